import type * as contract from "@shoal/contract";
import { type Handler, ServiceError } from "@shoal/router";
import { launchChange } from "../chromium/launch.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import type { SessionRoot } from "../fs/paths.ts";
import type { InstanceConfig } from "../protocol.ts";
import type { UnpackedExtension } from "./unpack-extension.ts";

/** Extensions of one session, at most: each is a process or two. */
const maxLoaded = 50;

/** A handler for the operation on a session's extensions, named as the endpoint is. */
export interface ExtensionHandlers {
  readonly loadExtensions: Handler<typeof contract.loadExtensions, unknown>;
}

export interface ExtensionParts {
  readonly root: SessionRoot;
  readonly config: InstanceConfig;
  readonly browser: Pick<BrowserSupervisor, "cdp" | "launch" | "onBrowser" | "relaunch">;
}

/** Loads extensions into the browser that runs, and again into each that takes its place. */
export function extensionHandlers({ root, config, browser }: ExtensionParts): ExtensionHandlers {
  /** By name: folders that the browser has loaded. */
  const loaded = new Map<string, string>();
  let isFollowing = false;
  let previous: Promise<unknown> = Promise.resolve();

  /** A browser that was started again has forgotten them. */
  function follow(): void {
    if (isFollowing) return;
    isFollowing = true;
    let isFirst = true;
    browser.onBrowser((cdp) => {
      if (!isFirst) for (const folder of loaded.values()) loadUnpacked(cdp, folder).catch(() => undefined);
      isFirst = false;
    });
  }

  async function load(extensions: readonly UnpackedExtension[]): Promise<void> {
    if (new Set([...loaded.keys(), ...extensions.map(({ name }) => name)]).size > maxLoaded)
      throw new ServiceError(
        400,
        "bad_request",
        `body.extensions: a session has at most ${String(maxLoaded)} extensions, and ${String(loaded.size)} are loaded`,
      );
    const change = launchChange(config, browser.launch, { full: true });
    if (change === "no_full_chromium") throw noFullChromium();
    if (change !== undefined) await browser.relaunch(change);
    const cdp = await browser.cdp();
    follow();
    const late: UnpackedExtension[] = [];
    for (const extension of extensions) {
      try {
        await loadUnpacked(cdp, extension.folder);
        loaded.set(extension.name, extension.folder);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!/wasn't found|not available|Method not/i.test(reason))
          throw new ServiceError(
            400,
            "bad_request",
            `${extension.label}: Chromium does not load it: ${reason.replace(/^Extensions\.loadUnpacked: /, "")}`,
            { cause: error },
          );
        late.push(extension);
      }
    }
    // A Chromium before 137 knows no other way.
    if (late.length > 0) await browser.relaunch({ extensions: [...new Set([...browser.launch.extensions, ...late.map(({ folder }) => folder)])] });
  }

  return {
    async loadExtensions({ body, signal }) {
      if (launchChange(config, browser.launch, { full: true }) === "no_full_chromium") throw noFullChromium();
      // Loaded by the first extension: most sessions have none.
      const { unpackExtension, withExtensions } = await import("./extension-parts.ts");
      await withExtensions(body, root.spoolDirectory, async (taken) => {
        const unpacked: UnpackedExtension[] = [];
        for (const extension of taken) unpacked.push(await unpackExtension(root, extension, signal));
        // One request after the other: a relaunch ends what another has begun.
        const begun = previous.then(() => load(unpacked));
        previous = begun.catch(() => undefined);
        await begun;
      });
    },
  };
}

async function loadUnpacked(cdp: CdpConnection, path: string): Promise<void> {
  await cdp.send("Extensions.loadUnpacked", { path });
}

function noFullChromium(): ServiceError {
  return new ServiceError(
    400,
    "bad_request",
    "Extensions need a full Chromium, and this server has only a headless shell. Install one on the server (Debian: apt-get install chromium; or Google Chrome) and start the service again.",
  );
}
