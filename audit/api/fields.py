"""What bodies of the review API are read with: strict, so that nothing is taken for something else."""

from typing import Any

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator


class StrictSerializer(serializers.Serializer[Any]):
    """No field is dropped without a word."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(map(str, data)) - set(self.fields))):
            raise serializers.ValidationError({name: ["is not a field here"] for name in unknown[:10]})
        return super().to_internal_value(data)


class StrictBoolean(serializers.BooleanField):
    """true or false; "no" and 0 are neither."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("must be true or false")
        return data


class StrictInteger(serializers.IntegerField):
    """A whole number, not the text of one."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            raise serializers.ValidationError("must be a whole number")
        return data


class Content(serializers.CharField):
    """Text kept as it is: it may quote what a model wrote, NUL and lone surrogates included."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **options)
        refusing = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)
        self.validators = [validator for validator in self.validators if not isinstance(validator, refusing)]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("must be text")
        return data
