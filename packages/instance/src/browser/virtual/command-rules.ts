import { refusedForOthers } from "../cdp/cdp-connection.ts";
import { type ContextScope, isInside } from "./context-scope.ts";
import { missingFile } from "../../system/missing-file.ts";
import { pageMethods } from "./page-methods.ts";
import { buttonMayPaste, keyMayPaste } from "./shared-input.ts";

export type Params = Readonly<Record<string, unknown>>;

/** `browser`: a session of the whole browser, or none. `target`: a session of a page, frame or worker. */
export type SessionKind = "browser" | "target";

export type CommandVerdict =
  { readonly send: Params } | { readonly answer: Params } | { readonly refuse: string; readonly code: number };

/** What a client knows already. */
export interface KnownObjects {
  hasSession(sessionId: unknown): boolean;
  hasWindow(windowId: unknown): boolean;
  /** Asks the browser if needed. */
  hasTarget(targetId: unknown): boolean | Promise<boolean>;
}

type Rule = (params: Params, kind: SessionKind) => CommandVerdict;

const methodMissing = -32601;
const badParams = -32602;
const serverError = -32000;

/** Others could show files of the machine or pages of the browser itself. */
const openSchemes: ReadonlySet<string> = new Set(["about:", "blob:", "data:", "http:", "https:"]);
const fetchSchemes: ReadonlySet<string> = new Set(["http:", "https:"]);

const wholeBrowser = "it concerns the whole browser, which other sessions share";
const nextStep = 'Create the session without isolation: "context".';
const sharedClipboard = `the sessions of a shared browser have one clipboard, so none may read it. ${nextStep}`;

/** Decides about each command of a client, with an allowlist: what it does not name is refused. */
export class CommandRules {
  readonly #scope: ContextScope;
  readonly #known: KnownObjects;
  readonly #rules: ReadonlyMap<string, Rule>;

  constructor(scope: ContextScope, known: KnownObjects) {
    this.#scope = scope;
    this.#known = known;
    this.#rules = new Map<string, Rule>([...this.#targetRules(), ...this.#browserRules(), ...this.#pageRules()]);
  }

  judge(method: string, params: Params, kind: SessionKind): CommandVerdict | Promise<CommandVerdict> {
    const rule = this.#rules.get(method);
    if (rule === undefined && (kind === "browser" || !pageMethods.has(method))) return notAvailable(method);
    const { browserContextId, targetId } = params;
    if (browserContextId !== undefined && browserContextId !== this.#scope.contextId)
      return { refuse: "Failed to find browser context with given id", code: badParams };
    if (targetId === undefined) return apply(rule, params, kind);
    const own = this.#known.hasTarget(targetId);
    if (own === true) return apply(rule, params, kind);
    return Promise.resolve(own).then((isOwn) => (isOwn ? apply(rule, params, kind) : missingTarget()));
  }

  #targetRules(): [string, Rule][] {
    return [
      ["Target.activateTarget", withTarget],
      ["Target.closeTarget", withTarget],
      ["Target.autoAttachRelated", withTarget],
      ["Target.attachToTarget", (params) => (params.targetId === undefined ? missingTarget() : flat(params))],
      ["Target.attachToBrowserTarget", (params, kind) => (kind === "browser" ? { send: params } : onlyBrowser())],
      ["Target.setAutoAttach", (params) => (params.autoAttach === true ? flat(params) : { send: params })],
      [
        "Target.detachFromTarget",
        (params) => (this.#known.hasSession(params.sessionId) ? { send: params } : noSession()),
      ],
      ["Target.getTargets", (params) => ({ send: params })],
      ["Target.getTargetInfo", (params) => ({ send: params })],
      ["Target.setDiscoverTargets", (params) => ({ send: params })],
      [
        "Target.getBrowserContexts",
        () => ({ answer: { browserContextIds: [], defaultBrowserContextId: this.#scope.contextId } }),
      ],
      ["Target.createTarget", (params) => this.#createTarget(params)],
    ];
  }

  #browserRules(): [string, Rule][] {
    const here = this.#here;
    const inWindow: Rule = (params) =>
      this.#known.hasWindow(params.windowId) ? { send: params } : refusal("Browser window not found", serverError);
    return [
      ["Browser.getVersion", (params) => ({ send: params })],
      ["Browser.cancelDownload", here],
      ["Browser.resetPermissions", here],
      ["Browser.grantPermissions", (params) => (readsClipboard(params.permissions) ? refuseClipboard() : here(params))],
      [
        "Browser.setPermission",
        (params) => (readsClipboard([nameOf(params.permission)]) ? refuseClipboard() : here(params)),
      ],
      ["Browser.setDownloadBehavior", (params) => this.#downloads(params, here)],
      [
        "Browser.getWindowForTarget",
        (params, kind) => (kind === "browser" && params.targetId === undefined ? missingTarget() : { send: params }),
      ],
      ["Browser.getWindowBounds", inWindow],
      ["Browser.setWindowBounds", inWindow],
      ["Browser.setContentsSize", inWindow],
      ...["Storage.getCookies", "Storage.setCookies", "Storage.clearCookies"].map((name): [string, Rule] => [
        name,
        (params, kind) => (kind === "browser" ? here(params) : { send: without(params, "browserContextId") }),
      ]),
      // The screens belong to the whole browser.
      ["Emulation.getScreenInfos", () => ({ answer: { screenInfos: [] } })],
    ];
  }

  #pageRules(): [string, Rule][] {
    const ofPage = (name: string, rule: (params: Params) => CommandVerdict): [string, Rule] => [
      name,
      (params, kind) => (kind === "target" ? rule(params) : notAvailable(name)),
    ];
    return [
      ofPage("Page.navigate", (params) => checkAddress(params, openSchemes)),
      ofPage("Fetch.continueRequest", (params) =>
        params.url === undefined ? { send: params } : checkAddress(params, fetchSchemes),
      ),
      ofPage("Network.loadNetworkResource", (params) => checkAddress(params, fetchSchemes)),
      ofPage("Page.setDownloadBehavior", (params) => this.#downloads(params, (given) => ({ send: given }))),
      ofPage("DOM.setFileInputFiles", (params) => {
        const files: readonly unknown[] = Array.isArray(params.files) ? params.files : [params.files];
        const missing = files.find((path) => !isInside(this.#scope, path));
        if (missing === undefined && Array.isArray(params.files)) return { send: params };
        return refusal(
          typeof missing === "string" ? missingFile(missing) : "files: expected a list of paths",
          badParams,
        );
      }),
      ofPage("Input.dispatchDragEvent", (params) =>
        hasFiles(params.data)
          ? refusal(`data.files is not available with isolation: "context". Use DOM.setFileInputFiles.`, badParams)
          : { send: params },
      ),
      ofPage("Input.dispatchKeyEvent", (params) => (keyMayPaste(params) ? refuseClipboard() : { send: params })),
      ...["Input.dispatchMouseEvent", "Input.emulateTouchFromMouseEvent"].map((name) =>
        ofPage(name, (params) => (buttonMayPaste(params) ? refuseMiddle() : { send: params })),
      ),
    ];
  }

  readonly #here = (params: Params): CommandVerdict => ({
    send: { ...params, browserContextId: this.#scope.contextId },
  });

  #createTarget(params: Params): CommandVerdict {
    if (params.enableBeginFrameControl === true)
      return refusal("enableBeginFrameControl: frames are controlled for the whole browser", badParams);
    // An empty address opens about:blank.
    if (params.url === undefined || params.url === "") return this.#here({ ...params, url: "about:blank" });
    const checked = checkAddress(params, openSchemes);
    return "send" in checked ? this.#here(checked.send) : checked;
  }

  #downloads(params: Params, send: (params: Params) => CommandVerdict): CommandVerdict {
    const { behavior, downloadPath } = params;
    const needsFolder = behavior === "allow" || behavior === "allowAndName";
    if (behavior === "default") return send({ ...params, behavior: "deny" });
    if (needsFolder ? isInside(this.#scope, downloadPath) : downloadPath === undefined) return send(params);
    return refusal("downloadPath: not a folder of the session's files", badParams);
  }
}

function apply(rule: Rule | undefined, params: Params, kind: SessionKind): CommandVerdict {
  return rule === undefined ? { send: params } : rule(params, kind);
}

function refusal(refuse: string, code: number): CommandVerdict {
  return { refuse, code };
}

function notAvailable(method: string): CommandVerdict {
  return refusal(
    `${method.slice(0, 100)} is not available with isolation: "context", because ${wholeBrowser}, or it is unknown. ${nextStep}`,
    methodMissing,
  );
}

function refuseClipboard(): CommandVerdict {
  return refusal(`The clipboard cannot be read: ${sharedClipboard}`, refusedForOthers);
}

function refuseMiddle(): CommandVerdict {
  return refusal(
    `button: middle would paste a selection, and the sessions of a shared browser have one. For a new tab, hold Control and click. ${nextStep}`,
    refusedForOthers,
  );
}

/** As Chromium answers for an id that does not exist. */
function missingTarget(): CommandVerdict {
  return refusal("No target with given id found", badParams);
}

function noSession(): CommandVerdict {
  return refusal("No session with given id", badParams);
}

function onlyBrowser(): CommandVerdict {
  return refusal("Not allowed", serverError);
}

function withTarget(params: Params): CommandVerdict {
  return params.targetId === undefined ? missingTarget() : { send: params };
}

/** Messages inside `Target.sendMessageToTarget` would need a second gateway. */
function flat(params: Params): CommandVerdict {
  if (params.flatten === true) return { send: params };
  return refusal(`flatten: must be true with isolation: "context"`, badParams);
}

function without(params: Params, name: string): Params {
  const { [name]: _, ...rest } = params;
  return rest;
}

function checkAddress(params: Params, schemes: ReadonlySet<string>): CommandVerdict {
  const { url } = params;
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  if (parsed === null) return refusal("Cannot navigate to invalid URL", badParams);
  if (schemes.has(parsed.protocol)) return { send: params };
  return refusal(
    `url: ${parsed.protocol.slice(0, 40)} is not available with isolation: "context", because the browser is shared; only ${[...schemes].join(", ")}. ${nextStep}`,
    badParams,
  );
}

function nameOf(permission: unknown): unknown {
  return typeof permission === "object" && permission !== null && "name" in permission ? permission.name : undefined;
}

function readsClipboard(permissions: unknown): boolean {
  return (
    Array.isArray(permissions) &&
    permissions.some((name) => /clipboard/i.test(String(name)) && name !== "clipboardSanitizedWrite")
  );
}

function hasFiles(data: unknown): boolean {
  if (typeof data !== "object" || data === null || !("files" in data)) return false;
  return !Array.isArray(data.files) || data.files.length > 0;
}
