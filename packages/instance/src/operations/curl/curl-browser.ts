import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { superviseChromium } from "../../browser/chromium/browser.ts";
import { spawnChromium } from "../../browser/chromium/spawn.ts";
import type { EgressFailure, EgressFailures } from "../../egress/failures.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import { Turns } from "../../system/turns.ts";
import { keepCookiesInStep, type CookieStep } from "./cookie-step.ts";
import { type NavigationTarget, openNavigationTarget } from "./navigation.ts";

export const maxExchanges = 6;
export const maxWaiting = 64;
/** Idle time after which the resources for requests are closed. */
const idleMs = 60_000;

export interface Lease {
  readonly target: NavigationTarget;
  /** Call this before the request is sent, and after the head of its answer. */
  syncCookies(): Promise<void>;
  /** @param reusable - whether the target's last exchange has ended. */
  release(reusable: boolean): void;
}

export interface CurlBrowserOptions {
  readonly config: InstanceConfig;
  readonly egressPort: number;
  readonly failures: EgressFailures | undefined;
  cdp(): Promise<CdpConnection>;
}

interface Place {
  readonly session: CdpConnection;
  readonly cdp: CdpConnection;
  readonly cookies: CookieStep | undefined;
  readonly idle: NavigationTarget[];
  end(): void;
}

export class CurlBrowser {
  readonly #options: CurlBrowserOptions;
  readonly #turns = new Turns({ running: maxExchanges, waiting: maxWaiting });
  #place: Promise<Place> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Ids of the latest targets: a few more than can exist at once. */
  readonly #targetIds = new Set<string>();
  readonly #endPlace = (): void => {
    const ended = this.#place;
    this.#place = undefined;
    ended?.then(
      (made) => {
        made.end();
      },
      () => undefined,
    );
  };

  constructor(options: CurlBrowserOptions) {
    this.#options = options;
  }

  #remember({ targetId }: NavigationTarget): void {
    this.#targetIds.add(targetId);
    for (const oldest of this.#targetIds) {
      if (this.#targetIds.size <= maxExchanges * 4) break;
      this.#targetIds.delete(oldest);
    }
  }

  async #presentPlace(): Promise<Place> {
    const session = await this.#options.cdp().catch((error: unknown) => {
      throw new ServiceError(503, "browser_not_running", `The browser is not running: ${messageOf(error)}.`, {
        cause: error,
        retryAfterSeconds: 1,
      });
    });
    const known = await this.#place?.catch(() => undefined);
    if (known?.session === session) return known;
    known?.end();
    const opened = openPlace(session, this.#options);
    this.#place = opened;
    const made = await opened;
    const forget = () => {
      made.end();
      if (this.#place === opened) this.#place = undefined;
    };
    void made.cdp.closed.then(forget);
    void session.closed.then(forget);
    return made;
  }

  /** @throws {ServiceError} 429 when too many requests wait, 503 when the browser does not run. */
  async lease(signal: AbortSignal): Promise<Lease> {
    if (this.#closed) throw new ServiceError(503, "shutting_down", "This session is ending.");
    if (this.#turns.isFull)
      throw new ServiceError(
        429,
        "too_many_requests",
        `This browser is sending ${String(maxExchanges)} requests and ${String(maxWaiting)} are waiting, the limit.`,
        { limit: maxExchanges, hint: "Wait for one to end.", retryAfterSeconds: 1 },
      );
    const endTurn = await this.#turns.take(signal);
    clearTimeout(this.#idleTimer);
    const finish = (): void => {
      endTurn();
      if (this.#turns.isIdle) this.#idleTimer = setTimeout(this.#endPlace, idleMs);
    };
    let made: Place;
    let target: NavigationTarget;
    try {
      made = await this.#presentPlace();
      target = made.idle.pop() ?? (await openNavigationTarget(made.cdp));
      this.#remember(target);
    } catch (error) {
      finish();
      throw error;
    }
    return {
      target,
      syncCookies: async () => made.cookies?.sync(),
      release: (reusable) => {
        if (reusable) made.idle.push(target);
        else target.close();
        finish();
      },
    };
  }

  async failureOf(target: string): Promise<EgressFailure | undefined> {
    return this.#options.failures?.of(target);
  }

  /** Whether a target in the session's browser was created for requests. */
  isHelper(targetId: string): boolean {
    return this.#targetIds.has(targetId);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    this.#endPlace();
  }
}

/** A full Chromium hides these pages from clients. A headless shell does not, so a second one sends the requests. */
async function openPlace(session: CdpConnection, { config, egressPort }: CurlBrowserOptions): Promise<Place> {
  const { product } = await session.send("Browser.getVersion");
  if (!product.startsWith("HeadlessChrome/")) {
    const idle: NavigationTarget[] = [];
    return {
      session,
      cdp: session,
      cookies: undefined,
      idle,
      end() {
        for (const target of idle.splice(0)) target.close();
      },
    };
  }
  const directory = join(config.session_dir, "curl");
  const helper = superviseChromium(
    spawnChromium({ ...config, session_dir: directory, viewport: { width: 64, height: 64 } }, egressPort),
  );
  void helper.exited.then(() => rm(directory, { recursive: true, force: true }).catch(() => undefined));
  return {
    session,
    cdp: helper.cdp,
    cookies: keepCookiesInStep(session, helper.cdp),
    idle: [],
    end() {
      void helper.kill();
    },
  };
}
