"""Catalpa's methods as stages of a Spark ML pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

from sklearn.base import clone

from catalpa.cluster.registry import find_method, model_from
from catalpa.errors import ParameterError, UnknownColumn, needing
from catalpa.estimator.base import Clusterer
from catalpa.estimator.model_json import model_document
from catalpa.estimator.parameters import ELSEWHERE, WATCHING, plain_parameters
from catalpa.model.file import from_model_text, model_text

with needing("Stages of a Spark pipeline need pyspark", "'catalpa[spark]'"):
    from pyspark.ml import Estimator, Model, util
    from pyspark.ml.functions import array_to_vector
    from pyspark.ml.param.shared import HasInputCols, HasPredictionCol, HasProbabilityCol, HasWeightCol
    from pyspark.sql import SparkSession
    from pyspark.sql.types import ArrayType, DataType, DoubleType, IntegerType

from catalpa.engines.spark import append_columns

__all__ = ["CatalpaEstimator", "CatalpaModel"]


class _Stage(HasInputCols, HasPredictionCol, HasProbabilityCol, util.MLReadable, util.MLWritable):
    """What both stages share: Spark's own way to write and read them."""

    def write(self) -> util.MLWriter:
        """The writer that Spark ML saves stages with."""
        return _Writer(self)

    @classmethod
    def read(cls) -> util.MLReader:
        """The reader that Spark ML loads stages with."""
        return _Reader(cls)


class CatalpaEstimator(_Stage, HasWeightCol, Estimator):
    """A clusterer as an estimator of Spark ML.

    Parameters
    ----------
    clusterer : Clusterer
        Any of Catalpa's methods that run on blocks of rows, with its settings.
    input_cols : list of str, optional
        The columns to cluster by; all of them by default.
    prediction_col : str, default="cluster"
        The column that the fitted model appends.
    probability_col : str, optional
        A second column to append: the membership probabilities of all clusters as a vector of Spark ML, which
        later stages take as features. For methods with probabilities, such as Grove.
    weight_col : str, optional
        The column with the weights of the rows; it takes no part in the clustering.

    Examples
    --------
    ::

        from pyspark.ml import Pipeline
        from catalpa import Grove
        from catalpa.spark import CatalpaEstimator

        stage = CatalpaEstimator(Grove(8, random_state=0), input_cols=["plan", "region", "device"])
        fitted = Pipeline(stages=[stage]).fit(customers)
        fitted.transform(customers).groupBy("cluster").count().show()
        fitted.write().overwrite().save("s3a://models/customers")
    """

    def __init__(
        self,
        clusterer: Clusterer,
        input_cols: Sequence[str] | None = None,
        prediction_col: str = "cluster",
        probability_col: str | None = None,
        weight_col: str | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(clusterer, Clusterer):
            raise ParameterError(
                f"clusterer is a {type(clusterer).__name__}; give one of Catalpa's methods, such as Grove(8)."
            )
        self.clusterer = clusterer
        self._set(predictionCol=prediction_col)
        if input_cols is not None:
            self._set(inputCols=list(input_cols))
        if probability_col is not None:
            if not hasattr(type(clusterer), "predict_proba"):
                raise ParameterError(
                    f"probability_col is {probability_col!r}, but {type(clusterer).__name__} has no "
                    "probabilities. Leave it out, or use Grove."
                )
            self._set(probabilityCol=probability_col)
        if weight_col is not None:
            self._set(weightCol=weight_col)

    def _fit(self, dataset: Any) -> CatalpaModel:
        weight = self.getWeightCol() if self.isSet(self.weightCol) else None
        known = self.getInputCols() if self.isSet(self.inputCols) else dataset.columns
        columns = [name for name in known if name != weight]
        read = columns if weight is None else [*columns, weight]
        _check_columns(read, dataset)
        # A copy: Spark may fit one stage several times, also at once.
        fitted = clone(self.clusterer).fit(dataset.select(*read), sample_weight=weight)
        probability = self.getProbabilityCol() if self.isSet(self.probabilityCol) else None
        document = model_text(model_document(fitted))
        return CatalpaModel(document, columns, self.getPredictionCol(), probability)

    def _save(self, path: str) -> None:
        extra = {"method": type(self.clusterer).__name__, "settings": _plain_settings(self.clusterer)}
        util.DefaultParamsWriter.saveMetadata(self, path, _session(), {"clusterer": extra})

    @staticmethod
    def _loaded(path: str, metadata: Any) -> CatalpaEstimator:  # noqa: ARG004 - the model's is in a file
        document = metadata["clusterer"]
        return CatalpaEstimator(find_method(document["method"]).estimator(**document["settings"]))


class CatalpaModel(_Stage, Model):
    """A fitted clusterer as a model of Spark ML: appends the cluster of every row, keeps the other columns.

    With ``probability_col`` it appends the membership probabilities too, as a vector.

    Attributes
    ----------
    clusterer : Clusterer
        The fitted method, with its profiles, history and relations.
    """

    def __init__(
        self,
        document: str,
        input_cols: Sequence[str],
        prediction_col: str,
        probability_col: str | None = None,
    ) -> None:
        super().__init__()
        self.document = document
        self._set(inputCols=list(input_cols), predictionCol=prediction_col)
        if probability_col is not None:
            self._set(probabilityCol=probability_col)

    @cached_property
    def clusterer(self) -> Clusterer:
        return _from_text(self.document)

    def _transform(self, dataset: Any) -> Any:
        _check_columns(self.getInputCols(), dataset)
        # The text travels, not the model: every process reads it anew.
        proba = self.isSet(self.probabilityCol)
        predict = partial(_labels, self.document, self.getInputCols(), proba)
        columns: dict[str, DataType] = {self.getPredictionCol(): IntegerType()}
        if not proba:
            return append_columns(dataset, columns, predict)
        name = self.getProbabilityCol()
        wide = append_columns(dataset, columns | {name: ArrayType(DoubleType())}, predict)
        return wide.withColumn(name, array_to_vector(name))

    def _save(self, path: str) -> None:
        util.DefaultParamsWriter.saveMetadata(self, path, _session())
        # Written by Spark, as only Spark may know how to reach the path.
        document = _session().createDataFrame([(self.document,)], "value string")
        # One partition: a text in parts would come back in any order.
        document.coalesce(1).write.text(f"{path}/model")

    @staticmethod
    def _loaded(path: str, metadata: Any) -> CatalpaModel:  # noqa: ARG004 - the estimator's is all there
        document = _session().read.text(f"{path}/model", wholetext=True).first().value
        return CatalpaModel(document, (), "cluster")  # the true columns come with the parameters


class _Writer(util.DefaultParamsWriter):
    def saveImpl(self, path: str) -> None:  # noqa: N802 - the name that Spark calls
        self.instance._save(path)


class _Reader(util.DefaultParamsReader):
    def load(self, path: str) -> Any:
        metadata = self.loadMetadata(path, _session())
        stage = self.cls._loaded(path, metadata)
        stage._resetUid(metadata["uid"])
        self.getAndSetParams(stage, metadata)
        return stage


def _labels(document: str, columns: list[str], proba: bool, batch: Any) -> list[Any]:
    """Labels of a batch, and its probabilities if these are wanted."""
    model, rows = _last_read(document), batch.select(columns)
    if not proba:
        return [model.predict(rows)]
    return [model.predict(rows), model.predict_proba(rows)]


def _check_columns(wanted: Sequence[str], dataset: Any) -> None:
    absent = [name for name in wanted if name not in dataset.columns]
    if absent:
        raise UnknownColumn(f"The Spark table has no column {absent}. Its columns are {dataset.columns}.")


def _plain_settings(clusterer: Clusterer) -> dict[str, Any]:
    """The settings as JSON can hold them."""
    settings = clusterer.get_params(deep=False)
    plain = plain_parameters(settings)
    unset = {name for name in ELSEWHERE if settings.get(name) is None}
    for name in settings.keys() - plain.keys() - set(WATCHING) - unset:
        raise ParameterError(
            f"{name} is a {type(settings[name]).__name__}, which a saved stage cannot hold. "
            "Give a number, text or lists of them."
        )
    return plain


def _session() -> Any:
    return SparkSession.builder.getOrCreate()


def _from_text(document: str) -> Clusterer:
    name = "The model of this stage"
    return model_from(from_model_text(document.encode("utf-8"), name), name)


# The batches of a process mostly have one model; it is not the driver's, which a user may change.
_last_read = lru_cache(maxsize=1)(_from_text)
