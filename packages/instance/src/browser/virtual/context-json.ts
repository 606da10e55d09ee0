import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { type CdpConnection, CdpError } from "../cdp/cdp-connection.ts";
import { splitUrl } from "../../http/replies.ts";
import type { BrowserEndpoint } from "../chromium/browser.ts";

export interface JsonAnswer {
  readonly status: number;
  readonly body: object | string;
}

const ofTarget = /^\/json\/(activate|close)\/(\w{1,100})\/?$/;
/** As Chromium's `/json/list`. */
const listedTypes: ReadonlySet<string> = new Set(["page", "iframe", "worker", "shared_worker", "service_worker"]);

/** Answers Chromium's `/json/…` requests for one browser context. */
export class ContextJson {
  readonly #cdp: CdpConnection;
  readonly #browser: BrowserEndpoint;

  constructor(cdp: CdpConnection, browser: BrowserEndpoint) {
    this.#cdp = cdp;
    this.#browser = browser;
  }

  async answer(method: string, url: string): Promise<JsonAnswer> {
    const { path, query } = splitUrl(url);
    const plain = path.replace(/\/$/, "");
    if (plain === "/json/version") return { status: 200, body: await this.#version() };
    if (plain === "/json" || plain === "/json/list") return { status: 200, body: await this.#list() };
    if (plain === "/json/protocol") return { status: 200, body: await this.#protocol() };
    if (plain === "/json/new") return this.#open(method, query);
    const [, verb, targetId] = ofTarget.exec(path) ?? [];
    return targetId === undefined ? { status: 404, body: `Unknown command: ${path}` } : this.#change(verb, targetId);
  }

  async #version(): Promise<object> {
    const { jsVersion, product, protocolVersion, revision, userAgent } = await this.#cdp.send("Browser.getVersion");
    return {
      Browser: product,
      "Protocol-Version": protocolVersion,
      "User-Agent": userAgent,
      "V8-Version": jsVersion,
      "WebKit-Version": `537.36 (${revision})`,
      webSocketDebuggerUrl: "ws://127.0.0.1/devtools/browser",
    };
  }

  async #list(): Promise<object[]> {
    const { targetInfos } = await this.#cdp.send("Target.getTargets");
    return targetInfos.filter(({ type }) => listedTypes.has(type)).map(describe);
  }

  async #protocol(): Promise<object> {
    const answer = await fetch(`http://127.0.0.1:${String(this.#browser.port)}/json/protocol`);
    return (await answer.json()) as object;
  }

  async #open(method: string, query: string): Promise<JsonAnswer> {
    if (method !== "PUT") return { status: 405, body: "Using unsafe HTTP verb; use PUT to open a page" };
    try {
      const url = query === "" ? "about:blank" : decodeURIComponent(query);
      const { targetId } = await this.#cdp.send("Target.createTarget", { url });
      const { targetInfo } = await this.#cdp.send("Target.getTargetInfo", { targetId });
      return { status: 200, body: describe(targetInfo) };
    } catch (error) {
      if (error instanceof CdpError || error instanceof URIError) return { status: 400, body: error.message };
      throw error;
    }
  }

  async #change(verb: string | undefined, targetId: string): Promise<JsonAnswer> {
    try {
      await this.#cdp.send(verb === "close" ? "Target.closeTarget" : "Target.activateTarget", { targetId });
      return { status: 200, body: verb === "close" ? "Target is closing" : "Target activated" };
    } catch (error) {
      if (!(error instanceof CdpError)) throw error;
      return { status: 404, body: `No such target id: ${targetId}` };
    }
  }
}

function describe({ targetId, title, type, url }: Protocol.Target.TargetInfo): object {
  return {
    description: "",
    id: targetId,
    title,
    type,
    url,
    webSocketDebuggerUrl: `ws://127.0.0.1/devtools/page/${targetId}`,
  };
}
