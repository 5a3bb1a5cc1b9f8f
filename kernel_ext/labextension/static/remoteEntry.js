// @ts-check
/**
 * JupyterLab's and Notebook's side of Workbench, written by hand against module federation's contract: a container with
 * `init(scope)` and `get(module)`, under its name in `window._JUPYTERLAB`. No build step.
 *
 * `./extension` gives `%%cuda` cells C++ highlighting. `./mimeExtension` draws application/vnd.workbench+json with the
 * widgets' own modules: also in untrusted notebooks and without a kernel, since they show text as text only.
 */
(() => {
  const MIME = "application/vnd.workbench+json";
  const CPP = "text/x-c++src";
  const WIDGETS = ["animation", "array_view", "cache_table", "controls", "grad_view", "graph_view", "points", "profile_view", "source_view", "status_card", "stepper", "sweeps_view", "threads_view", "timeline"];
  const STYLES = ["parts", "panes", "pictures", "cloud", "lanes", ...WIDGETS];
  const folder = new URL("widgets/", /** @type {HTMLScriptElement} */ (document.currentScript).src);
  /** @type {Record<string, Record<string, {get(): Promise<() => any>}>>} */
  let shared = {};

  /** A module that the front end shares. @param {string} name */
  async function sharedModule(name) {
    const [version] = Object.values(shared[name] ?? {});
    if (!version) throw new Error(`the front end does not share ${name}`);
    return (await version.get())();
  }

  /** Keep one code cell's language as its first line says. @param {any} cell @param {() => string} usual */
  function watchCell(cell, usual) {
    if (cell.type !== "code") return;
    const settle = () => {
      const cuda = /^\s*%%cuda\b/.test(cell.sharedModel.getSource());
      if (cuda && cell.mimeType !== CPP) cell.mimeType = CPP;
      else if (!cuda && cell.mimeType === CPP) cell.mimeType = usual();
    };
    cell.contentChanged.connect(settle);
    cell.mimeTypeChanged.connect(settle); // a kernel that starts sets the language of all cells
    settle();
  }

  /** Let "stop" in the line of a launch that goes on interrupt the notebook's kernel, and "run" in the mark of a stale
   * output run its cell. An output of a notebook that is not trusted may look like anything, so nothing in it runs code.
   * @param {any} app @param {any} panel */
  function watchButtons(app, panel) {
    const style = document.createElement("style");
    style.textContent = ".workbench-hears .wb-pressed[hidden] { display: inline !important } .workbench-hears .wb-by-hand { display: none }";
    panel.node.append(style);
    panel.node.classList.add("workbench-hears");
    panel.node.addEventListener("click", (/** @type {Event} */ event) => {
      const pressed = event.target instanceof Element ? event.target.closest("[data-workbench-stop], [data-workbench-run]") : null;
      if (!pressed) return;
      if (pressed.hasAttribute("data-workbench-stop")) return void panel.sessionContext?.session?.kernel?.interrupt();
      const { content } = panel;
      const at = content.widgets.findIndex((/** @type {any} */ cell) => cell.node.contains(pressed));
      if (!content.widgets[at]?.model.trusted) return;
      content.activeCellIndex = at;
      content.deselectAll();
      app.commands.execute("notebook:run-cell");
    });
  }

  const extension = {
    id: "workbench:cuda-cells",
    description: "C++ highlighting of %%cuda cells",
    autoStart: true,
    /** @param {any} app */
    activate(app) {
      app.docRegistry.addWidgetExtension("Notebook", {
        /** @param {any} panel */
        createNew(panel) {
          const seen = new WeakSet();
          const look = () => {
            for (const cell of panel.content.model?.cells ?? []) {
              if (seen.has(cell)) continue;
              seen.add(cell);
              watchCell(cell, () => panel.content.codeMimetype || "text/x-ipython");
            }
          };
          const begin = () => {
            panel.content.model?.cells.changed.connect(look);
            look();
          };
          panel.content.modelChanged.connect(begin);
          begin();
          watchButtons(app, panel);
          return { dispose() {}, isDisposed: false };
        },
      });
    },
  };

  let dressed = false;
  function dress() {
    if (dressed) return;
    dressed = true;
    for (const name of STYLES) {
      const link = document.createElement("link");
      [link.rel, link.href] = ["stylesheet", new URL(`${name}.css`, folder).href];
      document.head.append(link);
    }
  }

  /** The renderer's class, made of the front end's own widgets. @param {any} Widget */
  const rendererOf = (Widget) => class extends Widget {
    constructor() {
      super();
      this.addClass("jp-WorkbenchView");
      this.clean = () => {};
    }

    /** @param {{data: Record<string, any>}} model */
    async renderModel(model) {
      const { widget, twin, view } = model.data[MIME] ?? {};
      if (!WIDGETS.includes(widget)) {
        this.node.textContent = "This view was made by another version of Workbench.";
        return;
      }
      dress();
      const names = [widget, "still"].map((name) => import(new URL(`${name}.js`, folder).href));
      const [{ default: module }, { stillModel, traitsOf }] = await Promise.all(names);
      this.clean();
      const mark = String(twin ?? "").replace(/[^\w-]/g, "");
      const style = document.createElement("style");
      if (mark) {
        this.addClass(mark); // the live widget hides what has this class; where it is gone, "model not found" is hidden
        style.textContent = `.jp-OutputArea-child:has(.${mark}) + .jp-OutputArea-child:has(.jupyter-widgets):not(:has(.wb-live)) { display: none }`;
      }
      const place = document.createElement("div");
      this.node.replaceChildren(style, place);
      this.clean = module.render({ model: stillModel(traitsOf(widget, view)), el: place }) ?? (() => {});
    }

    dispose() {
      this.clean();
      super.dispose();
    }
  };

  async function mimeExtension() {
    const { Widget } = await sharedModule("@lumino/widgets");
    const Renderer = rendererOf(Widget);
    return {
      id: "workbench:views",
      description: "Workbench's views without a kernel",
      rendererFactory: { safe: true, mimeTypes: [MIME], createRenderer: () => new Renderer() },
      rank: 40, // before HTML
      dataType: "json",
    };
  }

  const MODULES = { "./extension": async () => extension, "./mimeExtension": mimeExtension };
  /** @type {any} */ (window)._JUPYTERLAB ??= {};
  /** @type {any} */ (window)._JUPYTERLAB.workbench = {
    /** @param {any} scope */
    init(scope) {
      shared = scope;
    },
    /** @param {keyof typeof MODULES} name */
    async get(name) {
      const found = await MODULES[name]();
      return () => ({ __esModule: true, default: found });
    },
  };
})();
