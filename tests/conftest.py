from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Nothing here is about speed, and a machine may be busy.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("dev", max_examples=50, **PATIENT)
settings.register_profile("ci", max_examples=1000, derandomize=True, **PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
