"""`warp.config` as a module: `import warp.config`."""

import sys

from workbench.compat.warp.settings import config

sys.modules[__name__] = config  # type: ignore[assignment]
