"""The strictness that all models of posted values share."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Strict(BaseModel):
    """Strict: "2" is no number, and no field is dropped without a word."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        if not isinstance(data, dict) or all(value is not None for value in data.values()):
            return data
        required = {name for name, field in cls.model_fields.items() if field.is_required()}
        return {name: value for name, value in data.items() if value is not None or name in required}
