"""A page that plays the notebook for one widget's ES module: a model with traits, and a kernel that answers."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from kernel_ext.widgets.modules import module_text, style_text

_PAGE = """<!doctype html><meta charset="utf-8"><title>host</title>
<style>
  :root { --jp-ui-font-color1: #1f2328; --jp-layout-color1: #fff; --jp-border-color2: #c9c9c9 }
  :root.dark { --jp-ui-font-color1: #dcdcdc; --jp-layout-color1: #111; --jp-layout-color2: #2a2a2a;
               --jp-border-color2: #555; color-scheme: dark }
  body { margin: 12px; background: var(--jp-layout-color1) }
  CSS
</style>
<div class="jp-OutputArea-child" id="static"><p class="TWIN">static twin</p></div>
<div class="jp-OutputArea-child" id="live"></div>
<script type="module">
  const heard = {}, traits = TRAITS, texts = TEXTS;
  const fire = (name, ...args) => (heard[name] ?? []).forEach((f) => f(...args));
  window.sent = [];
  window.model = {
    get: (name) => traits[name],
    set: (name, value) => { traits[name] = value; fire(`change:${name}`); },
    on: (name, f) => (heard[name] ??= []).push(f),
    off: (name, f) => { heard[name] = (heard[name] ?? []).filter((g) => g !== f); },
    save_changes: () => {},
    send: (ask) => {
      window.sent.push(ask);
      const text = texts[ask.pane];
      if (text) queueMicrotask(() => fire("msg:custom", { kernel: ask.kernel, pane: ask.pane, text, first_line: 2 }));
    },
  };
  window.listeners = () => Object.values(heard).flat().length;
  const { default: widget } = await import("data:text/javascript;base64,MODULE");
  window.cleanup = widget.render({ model: window.model, el: document.getElementById("live") });
  document.documentElement.dataset.ready = "yes";
</script>
"""


def host_page(name: str, traits: dict[str, Any], texts: dict[str, str]) -> str:
    """The page's HTML: module and style `name`, the model's traits, the kernel's texts."""
    module = base64.b64encode(module_text(name).encode()).decode()
    parts = {
        "CSS": style_text(name),
        "TRAITS": json.dumps(traits).replace("</", "<\\/"),
        "TEXTS": json.dumps(texts).replace("</", "<\\/"),
        "TWIN": traits["twin"],
        "MODULE": module,
    }
    # In one pass: a view's own data may spell a mark.
    return re.sub("|".join(parts), lambda mark: parts[mark[0]], _PAGE)
