"""The human side."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "audit"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from audit.services.history import store_verdicts  # noqa: PLC0415 - models are there only now
        from audit.services.viewing import (  # noqa: PLC0415
            import_opinions_told,
            opinions_told,
            record_opinions_told,
        )
        from labeling.services import telling  # noqa: PLC0415
        from labeling.services.importing import showing, verdicts  # noqa: PLC0415

        verdicts.register(store_verdicts)
        showing.register(import_opinions_told, record_opinions_told)
        telling.register(opinions_told)
