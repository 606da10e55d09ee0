import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { TelemetryCategory } from "./categories.ts";
import { interactionBinding, interactionScript, interactionWorld } from "./interaction-events.ts";
import { fieldBinding, fieldScript } from "./masking/typed-fields.ts";
import type { WatchedTarget } from "./watched-target.ts";

type Commands = ProtocolMapping.Commands;

export interface Switches {
  readonly runtime: boolean;
  readonly network: boolean;
  readonly bodies: boolean;
  readonly page: boolean;
  readonly timeline: boolean;
  readonly interaction: boolean;
  /** Watches fields for secrets, so that their values are in no text of an event. */
  readonly fields: boolean;
}

const allOff: Switches = {
  runtime: false,
  network: false,
  bodies: false,
  page: false,
  timeline: false,
  interaction: false,
  fields: false,
};

const categoriesWithTexts: readonly TelemetryCategory[] = ["console", "network", "page", "interaction"];

export function switchesFor(categories: ReadonlySet<TelemetryCategory>): Switches {
  const interaction = categories.has("interaction");
  return {
    runtime: categories.has("console") || interaction,
    network: categories.has("network"),
    bodies: categories.has("network") && categories.has("bodies"),
    page: true,
    timeline: categories.has("page"),
    interaction,
    fields: categoriesWithTexts.some((category) => categories.has(category)),
  };
}

interface PageScript {
  readonly name: "interaction" | "fields";
  readonly binding: string;
  readonly source: string;
}

const fieldPageScript: PageScript = { name: "fields", binding: fieldBinding, source: fieldScript };
const pageScripts: readonly PageScript[] = [
  { name: "interaction", binding: interactionBinding, source: interactionScript },
  fieldPageScript,
];

export class TargetDomains {
  readonly #cdp: CdpConnection;
  readonly #applied = new Map<WatchedTarget, Switches>();
  readonly #scripts = new Map<WatchedTarget, Map<PageScript, Promise<string | undefined>>>();

  constructor(cdp: CdpConnection) {
    this.#cdp = cdp;
  }

  /** Sends a command. Ignores errors: the target has closed, or its kind lacks the domain. */
  send<M extends keyof Commands>(
    target: WatchedTarget,
    method: M,
    params?: Commands[M]["paramsType"][0],
  ): Promise<Commands[M]["returnType"] | undefined> {
    return Promise.race([this.#cdp.send(method, params, target.sessionId).catch(() => undefined), target.gone]);
  }

  /** Sends the changes at once; resolves when the target has applied them. */
  async apply(target: WatchedTarget, wanted: Switches): Promise<void> {
    const before = this.#applied.get(target) ?? allOff;
    this.#applied.set(target, wanted);
    const hasDocuments = target.kind === "page" || target.kind === "iframe";
    const sent: Promise<unknown>[] = [];
    if (hasDocuments && wanted.page && !before.page)
      sent.push(this.send(target, "Page.enable"), this.#readFrames(target));
    if (wanted.runtime !== before.runtime)
      sent.push(this.send(target, wanted.runtime ? "Runtime.enable" : "Runtime.disable"));
    if (wanted.network !== before.network || wanted.bodies !== before.bodies)
      sent.push(this.#switchNetwork(target, wanted));
    if (hasDocuments && wanted.timeline !== before.timeline) sent.push(this.#switchTimeline(target, wanted.timeline));
    if (hasDocuments)
      for (const script of pageScripts)
        if (wanted[script.name] !== before[script.name])
          sent.push(wanted[script.name] ? this.#addScript(target, script) : this.#removeScript(target, script));
    await Promise.all(sent);
  }

  forget(target: WatchedTarget): void {
    this.#applied.delete(target);
    this.#scripts.delete(target);
  }

  async #readFrames(target: WatchedTarget): Promise<void> {
    const tree = await this.send(target, "Page.getFrameTree");
    if (tree !== undefined) noteLoaders(target, tree.frameTree);
  }

  #switchNetwork(target: WatchedTarget, { bodies, network }: Switches): Promise<unknown> {
    return network
      ? this.send(target, "Network.enable", bodies ? { maxPostDataSize: 64 * 1024 } : {})
      : this.send(target, "Network.disable");
  }

  #switchTimeline(target: WatchedTarget, on: boolean): Promise<unknown> {
    return this.send(target, "PerformanceTimeline.enable", {
      eventTypes: on ? ["layout-shift", "largest-contentful-paint"] : [],
    });
  }

  async #addScript(target: WatchedTarget, script: PageScript): Promise<void> {
    const binding = this.#bind(target, script);
    const added = this.send(target, "Page.addScriptToEvaluateOnNewDocument", {
      source: script.source,
      worldName: interactionWorld,
      runImmediately: true,
    }).then((answer) => answer?.identifier);
    const scripts = this.#scripts.get(target) ?? new Map<PageScript, Promise<string | undefined>>();
    this.#scripts.set(target, scripts.set(script, added));
    await Promise.all([binding, added]);
  }

  #bind(target: WatchedTarget, { binding }: PageScript): Promise<unknown> {
    return this.send(target, "Runtime.addBinding", { name: binding, executionContextName: interactionWorld });
  }

  /** After a new document: without the domain Runtime, which pages can notice, its world has no binding yet. */
  rebind(target: WatchedTarget): void {
    const { fields = false, runtime = false } = this.#applied.get(target) ?? {};
    if (fields && !runtime) void this.#bind(target, fieldPageScript);
  }

  async #removeScript(target: WatchedTarget, script: PageScript): Promise<void> {
    const scripts = this.#scripts.get(target);
    const identifier = await scripts?.get(script);
    scripts?.delete(script);
    await this.send(target, "Runtime.removeBinding", { name: script.binding });
    if (identifier !== undefined) await this.send(target, "Page.removeScriptToEvaluateOnNewDocument", { identifier });
  }
}

function noteLoaders(target: WatchedTarget, { childFrames, frame }: Protocol.Page.FrameTree): void {
  if (!target.loaders.has(frame.id)) target.loaders.set(frame.id, frame.loaderId);
  for (const child of childFrames ?? []) noteLoaders(target, child);
}
