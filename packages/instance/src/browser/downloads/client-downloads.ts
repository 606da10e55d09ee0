import { mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { hostPath } from "../../system/host-path.ts";
import type { DownloadBehavior, SessionDownloads } from "./session-downloads.ts";

type Parameters = Readonly<Record<string, unknown>>;

/**
 * Folders of client settings that do not exist here are on the client's machine, such as Playwright's temporary folder:
 * their files go to the session's downloads; events and guids stay.
 */
export class ClientDownloads {
  readonly #root: string;
  readonly #downloads: SessionDownloads;
  #hasClaims = false;

  constructor(root: string, downloads: SessionDownloads) {
    this.#root = root;
    this.#downloads = downloads;
  }

  /**
   * Returns the same object when nothing changes; a message when the path leaves the session's files.
   * @param isForPage - of `Page.setDownloadBehavior`.
   */
  change(params: Parameters, isForPage = false): Parameters | string {
    const { behavior, downloadPath } = params;
    const contextId = isForPage
      ? undefined
      : typeof params.browserContextId === "string"
        ? params.browserContextId
        : "";
    if (behavior === "default" || this.#downloads.denies) return this.#keep(params, contextId);
    if (behavior !== "allow" && behavior !== "allowAndName") {
      if (behavior === "deny") this.#claim(contextId, { behavior });
      return params;
    }
    // Invalid type: the browser reports it.
    if (typeof downloadPath !== "string") return params;
    const path = hostPath(this.#root, downloadPath);
    // Chromium would overwrite files of the same name.
    if (behavior === "allow" && path !== undefined && path === realPathOf(this.#downloads.folder))
      return this.#keep(params, contextId);
    if (path !== undefined && (behavior === "allow" ? canBeFolder(path) : isFolder(path))) {
      this.#claim(contextId, { behavior, downloadPath: path });
      return this.#root === "/" ? params : { ...params, downloadPath: path };
    }
    // A relative path, as chromedriver's ".", is of the client's folder; so is a path of Windows.
    if (path === undefined && behavior === "allow" && downloadPath.startsWith("/"))
      return `downloadPath: ${downloadPath} is not an absolute path within the session's files.`;
    return this.#keep(params, contextId);
  }

  /** Until it resolves, the browser must not receive the result of {@link ClientDownloads.change}. */
  get settled(): Promise<unknown> | undefined {
    return this.#downloads.settled;
  }

  /** Await it before the browser's connection is closed: Chromium would cancel downloads that have just begun. */
  get placed(): Promise<void> | undefined {
    return this.#hasClaims ? this.#downloads.placed() : undefined;
  }

  /** Call this when the browser has closed the client's connection. */
  release(): void {
    this.#downloads.release(this);
  }

  /** Call it before a page opens in this browser context. */
  prepare(contextId: string): Promise<unknown> | undefined {
    return this.#downloads.prepare(contextId);
  }

  #keep(params: Parameters, contextId: string | undefined): Parameters {
    const { behavior } = this.#downloads;
    this.#claim(contextId, behavior);
    const { downloadPath: _own, ...others } = params;
    return { ...others, ...behavior };
  }

  #claim(contextId: string | undefined, behavior: DownloadBehavior): void {
    this.#hasClaims = true;
    if (contextId === undefined) this.#downloads.claimForPage(this, behavior);
    else this.#downloads.claim(this, contextId, behavior);
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Level by level: Node's `recursive` never returns below `/proc`, where `mkdir` fails with ENOENT. */
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
