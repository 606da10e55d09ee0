import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { hostPath } from "../cdp/host-path.ts";
import type { SessionDownloads } from "./session-downloads.ts";

/** Parameters of `Browser.setDownloadBehavior` as a client sends them. */
type Parameters = Readonly<Record<string, unknown>>;

/** An absolute path of Windows. */
const windowsPath = /^(?:[A-Za-z]:[\\/]|\\\\)/;

/**
 * What one CDP client says about downloads, made fit for a browser on another machine. A folder that is in the session, or can be made there,
 * is used as given. Every other one is on the client's machine: Playwright sends its temporary folder when it connects. The file then goes
 * where the session keeps its downloads; events and guids stay as the client expects them.
 */
export class ClientDownloads {
  readonly #root: string;
  readonly #downloads: SessionDownloads;

  /** @param root - what API paths start from. */
  constructor(root: string, downloads: SessionDownloads) {
    this.#root = root;
    this.#downloads = downloads;
  }

  /**
   * @param params - what the client sent.
   * @returns the same when the browser may have it as it is; else what it is to have; a text when the path leaves the session's files.
   */
  change(params: Parameters): Parameters | string {
    const { behavior, downloadPath } = params;
    const contextId = typeof params.browserContextId === "string" ? params.browserContextId : "";
    if (behavior === "default") return this.#keep(params, contextId);
    if (behavior !== "allow" && behavior !== "allowAndName") {
      if (behavior === "deny") this.#downloads.claim(this, contextId, { behavior });
      return params;
    }
    // Of another type: the browser says what it expects.
    if (typeof downloadPath !== "string") return params;
    const path = hostPath(this.#root, downloadPath);
    if (path !== undefined && (behavior === "allow" ? canBeFolder(path) : isFolder(path))) {
      this.#downloads.claim(this, contextId, { behavior, downloadPath: path });
      return this.#root === "/" ? params : { ...params, downloadPath: path };
    }
    if (path === undefined && behavior === "allow" && !windowsPath.test(downloadPath))
      return `downloadPath: ${downloadPath} is not an absolute path within the session's files.`;
    return this.#keep(params, contextId);
  }

  /** Resolves when the browser may have what {@link ClientDownloads.change} returned; `undefined` when it may have it now. */
  get settled(): Promise<unknown> | undefined {
    return this.#downloads.settled;
  }

  /** To be called when the browser has let the client's connection go. */
  release(): void {
    this.#downloads.release(this);
  }

  #keep(params: Parameters, contextId: string): Parameters {
    const { behavior } = this.#downloads;
    this.#downloads.claim(this, contextId, behavior);
    return { ...params, ...behavior };
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Makes the folder where it is missing. Level by level: Node's `recursive` never returns below `/proc`, where `mkdir` answers ENOENT. */
function canBeFolder(path: string): boolean {
  if (isFolder(path)) return true;
  const parent = dirname(path);
  if (parent === path || !canBeFolder(parent)) return false;
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}
