import { messageOf } from "@shoal/primitives";
import pTimeout from "p-timeout";
import { log } from "../../system/log.ts";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { StateKeeper } from "../chromium/supervisor.ts";
import { readCookies, replaceCookies } from "./cookies.ts";
import type { SavedCookie } from "./saved-state.ts";

const writeTimeoutMs = 30_000;

/** Chromium never writes session cookies to disk, and an orderly close may lose the latest of the others. */
export class CarriedCookies implements StateKeeper {
  #cookies: readonly SavedCookie[] | undefined;

  async beforeClose(cdp: CdpConnection): Promise<void> {
    this.#cookies = undefined;
    this.#cookies = await readCookies(cdp);
  }

  async beforeReady(cdp: CdpConnection): Promise<void> {
    const cookies = this.#cookies;
    if (cookies === undefined) return;
    try {
      const refused = await pTimeout(replaceCookies(cdp, cookies), { milliseconds: writeTimeoutMs });
      if (refused > 0) log("warn", "the browser refused cookies of its predecessor", { refused, of: cookies.length });
      this.#cookies = undefined;
    } catch (error) {
      log("error", "the cookies could not be carried to the relaunched browser", { error: messageOf(error) });
    }
  }
}
