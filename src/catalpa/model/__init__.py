"""A fitted model as a file (JSON in and out, no pickle), as an SQL query or as an ONNX graph."""
