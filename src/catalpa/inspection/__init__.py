"""What a table is, before anything is clustered: findings about its columns, and the recipe they make."""
