import type * as contract from "@shoal/contract";
import { messageOf } from "@shoal/primitives";
import { type Handler, type MultipartPart, ServiceError } from "@shoal/router";
import pLimit from "p-limit";
import { launchChange } from "../../browser/chromium/launch.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { SessionRoot } from "../fs/paths.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { UnpackedExtension } from "./unpack-extension.ts";

/** Maximum number of extensions in one session: each needs a process or two. */
const maxLoaded = 50;

export interface ExtensionHandlers {
  readonly loadExtensions: Handler<typeof contract.loadExtensions, unknown>;
}

export interface ExtensionParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "launch" | "onBrowser" | "relaunch">;
}

export class SessionExtensions {
  readonly handlers: ExtensionHandlers;
  readonly #parts: ExtensionParts;
  readonly #loaded = new Map<string, string>();
  /** A relaunch aborts other work. */
  readonly #turn = pLimit(1);
  #isFollowing = false;

  constructor(parts: ExtensionParts) {
    this.#parts = parts;
    this.handlers = {
      loadExtensions: async ({ body, signal }) => {
        await this.load(await this.unpack(body, signal));
      },
    };
  }

  /** Unpacks the archives of a request into the session's home. @throws {ServiceError} 400, 413. */
  async unpack(body: AsyncIterable<MultipartPart>, signal: AbortSignal): Promise<readonly UnpackedExtension[]> {
    const { browser, config, root } = this.#parts;
    if (launchChange(config, browser.launch, { full: true }) === "no_full_chromium") throw noFullChromium();
    // Loaded with the first extension: most sessions have none.
    const { unpackExtension, withExtensions } = await import("./extension-parts.ts");
    return withExtensions(body, root.spoolDirectory, async (taken) => {
      const unpacked: UnpackedExtension[] = [];
      for (const extension of taken) unpacked.push(await unpackExtension(root, extension, signal));
      return unpacked;
    });
  }

  /** Loads unpacked extensions into the browser, which becomes a full Chromium. @throws {ServiceError} 400. */
  load(extensions: readonly UnpackedExtension[]): Promise<void> {
    return this.#turn(() => this.#load(extensions));
  }

  async #load(extensions: readonly UnpackedExtension[]): Promise<void> {
    const { browser, config } = this.#parts;
    this.#refuseTooMany(extensions);
    const change = launchChange(config, browser.launch, { full: true });
    if (change === "no_full_chromium") throw noFullChromium();
    if (change !== undefined) await browser.relaunch(change);
    const cdp = await browser.cdp();
    this.#follow();
    const late: string[] = [];
    for (const extension of extensions) if (!(await this.#loadOne(cdp, extension))) late.push(extension.folder);
    // Chromium before 137 loads extensions only at launch.
    if (late.length > 0) await browser.relaunch({ extensions: [...new Set([...browser.launch.extensions, ...late])] });
  }

  #refuseTooMany(extensions: readonly UnpackedExtension[]): void {
    if (new Set([...this.#loaded.keys(), ...extensions.map(({ name }) => name)]).size > maxLoaded)
      throw new ServiceError(
        400,
        "bad_request",
        `a session has at most ${String(maxLoaded)} extensions, and ${String(this.#loaded.size)} are loaded`,
        { field: "body.extensions", limit: maxLoaded },
      );
  }

  /** @returns false if this Chromium loads extensions only at launch. */
  async #loadOne(cdp: CdpConnection, { folder, label, name }: UnpackedExtension): Promise<boolean> {
    try {
      await loadUnpacked(cdp, folder);
      this.#loaded.set(name, folder);
      return true;
    } catch (error) {
      const reason = messageOf(error);
      if (/wasn't found|not available|Method not/i.test(reason)) return false;
      throw new ServiceError(
        400,
        "bad_request",
        `${label}: Chromium does not load it: ${reason.replace(/^Extensions\.loadUnpacked: /, "")}`,
        { cause: error },
      );
    }
  }

  #follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    let isFirst = true;
    this.#parts.browser.onBrowser((cdp) => {
      if (!isFirst) for (const folder of this.#loaded.values()) loadUnpacked(cdp, folder).catch(() => undefined);
      isFirst = false;
    });
  }
}

async function loadUnpacked(cdp: CdpConnection, path: string): Promise<void> {
  await cdp.send("Extensions.loadUnpacked", { path });
}

function noFullChromium(): ServiceError {
  return new ServiceError(
    400,
    "bad_request",
    "Extensions need a full Chromium, and this server has only a headless shell.",
    {
      hint: "Install one on the server (Debian: apt-get install chromium; or Google Chrome) and start the service again.",
    },
  );
}
