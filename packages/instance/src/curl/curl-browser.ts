import { ServiceError } from "@shoal/router";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { superviseChromium } from "../chromium/browser.ts";
import { spawnChromium } from "../chromium/spawn.ts";
import type { EgressFailure, EgressFailures } from "../egress-failures.ts";
import type { InstanceConfig } from "../protocol.ts";
import { keepCookiesInStep, type CookieStep } from "./cookie-step.ts";
import { type NavigationTarget, openNavigationTarget } from "./navigation.ts";

/** Requests that are sent at once. */
export const maxExchanges = 6;
/** Requests that may wait for their turn. */
export const maxWaiting = 64;
/** What is kept for requests is ended when there were none for this long. */
const idleMs = 60_000;

/** A target for one request. */
export interface Lease {
  readonly target: NavigationTarget;
  /** To be called before the request is sent, and after its answer's head. */
  syncCookies(): Promise<void>;
  /** @param reusable - whether the target's last exchange has ended. */
  release(reusable: boolean): void;
}

/** Where requests are sent from. */
export interface CurlBrowser {
  /** @throws {ServiceError} 429 when too many wait, 503 when the browser does not run. */
  lease(signal: AbortSignal): Promise<Lease>;
  /** Why the egress gateway has just not reached `host:port`. */
  failureOf(target: string): Promise<EgressFailure | undefined>;
  /** Tells its targets in the session's own browser. */
  isHelper(targetId: string): boolean;
  close(): void;
}

export interface CurlBrowserOptions {
  readonly config: InstanceConfig;
  /** Port of the egress forwarder on 127.0.0.1. */
  readonly egressPort: number;
  readonly failures: EgressFailures | undefined;
  /** The session's own browser. */
  cdp(): Promise<CdpConnection>;
}

/** Targets in one running browser. */
interface Place {
  readonly session: CdpConnection;
  readonly cdp: CdpConnection;
  readonly cookies: CookieStep | undefined;
  readonly idle: NavigationTarget[];
  end(): void;
}

export function createCurlBrowser(options: CurlBrowserOptions): CurlBrowser {
  const waiting: (() => void)[] = [];
  let busy = 0;
  let place: Promise<Place> | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let closed = false;
  /** Of the last targets that were made: a few more than there can be. */
  const targetIds = new Set<string>();

  function remember({ targetId }: NavigationTarget): void {
    targetIds.add(targetId);
    for (const oldest of targetIds) {
      if (targetIds.size <= maxExchanges * 4) break;
      targetIds.delete(oldest);
    }
  }

  async function presentPlace(): Promise<Place> {
    const session = await options.cdp().catch((error: unknown) => {
      throw new ServiceError(503, "browser_not_running", `The browser does not run: ${error instanceof Error ? error.message : String(error)}.`, {
        cause: error,
        retryAfterSeconds: 1,
      });
    });
    const known = await place?.catch(() => undefined);
    if (known?.session === session) return known;
    known?.end();
    const opened = openPlace(session, options);
    place = opened;
    const made = await opened;
    const forget = () => {
      made.end();
      if (place === opened) place = undefined;
    };
    void made.cdp.closed.then(forget);
    void session.closed.then(forget);
    return made;
  }

  async function turn(signal: AbortSignal): Promise<void> {
    if (busy < maxExchanges) {
      busy++;
      return;
    }
    if (waiting.length >= maxWaiting)
      throw new ServiceError(
        429,
        "too_many_requests",
        `${String(maxExchanges)} requests are being sent through this browser and ${String(maxWaiting)} wait. Wait for one to end.`,
        { retryAfterSeconds: 1 },
      );
    const turned = Promise.withResolvers<void>();
    const resume = () => {
      turned.resolve();
    };
    waiting.push(resume);
    const giveUp = () => {
      const index = waiting.indexOf(resume);
      if (index === -1) return;
      waiting.splice(index, 1);
      turned.reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    };
    signal.addEventListener("abort", giveUp, { once: true });
    await turned.promise;
    signal.removeEventListener("abort", giveUp);
  }

  function finishTurn(): void {
    const next = waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    busy--;
    if (busy > 0) return;
    clearTimeout(idleTimer);
    idleTimer = setTimeout(endPlace, idleMs);
  }

  function endPlace(): void {
    const ended = place;
    place = undefined;
    ended?.then(
      (made) => {
        made.end();
      },
      () => undefined,
    );
  }

  return {
    async lease(signal) {
      if (closed) throw new ServiceError(503, "shutting_down", "This session is ending.");
      await turn(signal);
      clearTimeout(idleTimer);
      let made: Place;
      let target: NavigationTarget;
      try {
        made = await presentPlace();
        target = made.idle.pop() ?? (await openNavigationTarget(made.cdp));
        remember(target);
      } catch (error) {
        finishTurn();
        throw error;
      }
      return {
        target,
        syncCookies: async () => made.cookies?.sync(),
        release(reusable) {
          if (reusable) made.idle.push(target);
          else target.close();
          finishTurn();
        },
      };
    },
    failureOf: async (target) => options.failures?.of(target),
    isHelper: (targetId) => targetIds.has(targetId),
    close() {
      closed = true;
      clearTimeout(idleTimer);
      endPlace();
    },
  };
}

/**
 * A full Chromium hides the pages for requests from its clients. The headless shell shows every page to all of them, so there a second one
 * sends the requests, through the same way out and with the same cookies.
 */
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
  const helper = superviseChromium(spawnChromium({ ...config, session_dir: directory, viewport: { width: 64, height: 64 } }, egressPort));
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
