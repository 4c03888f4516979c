"""What numba-cuda's suite wants of its pytest and its package does not bring: a fixture of its repository."""
import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    request.cls._dump_failed_filechecks = False
