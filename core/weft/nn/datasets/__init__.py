"""Small real data sets that need no network: digits, tables, texts; and readers for MNIST and CIFAR
files that are there."""

from weft.nn.datasets.digits import Digits, load_digits
from weft.nn.datasets.images import cifar, cifar10, fashion_mnist, mnist
from weft.nn.datasets.tables import Table, load_breast_cancer, load_diabetes, load_iris, load_wine
from weft.nn.datasets.texts import load_text, texts

__all__ = [
    "Digits",
    "Table",
    "cifar",
    "cifar10",
    "fashion_mnist",
    "load_breast_cancer",
    "load_diabetes",
    "load_digits",
    "load_iris",
    "load_text",
    "load_wine",
    "mnist",
    "texts",
]
