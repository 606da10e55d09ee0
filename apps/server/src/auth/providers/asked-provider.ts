import { anySignal, messageOf } from "@shoal/primitives";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import {
  type CredentialProvider,
  type ItemReference,
  maxItems,
  type ProviderItem,
  type ProviderValues,
  type ProviderVault,
} from "./interface/credential-provider.ts";
import { itemForDomain } from "./domain-match.ts";
import { ProviderFailure } from "./interface/provider-failure.ts";

const callsAtOnce = 4;
const maxKeptValues = 50;
/** Larger answers are not cached. */
const maxKeptLength = 2 ** 20;
const maxPauseMs = 60 * 60 * 1000;
const maxMessage = 500;
const maxText = 1024;

export interface AskedProviderOptions {
  /** @throws {ProviderFailure} */
  readonly open: () => Promise<{ readonly provider: CredentialProvider; readonly token: string }>;
  readonly timeoutMs: number;
  readonly cacheMs: number;
  /** The time, in milliseconds. */
  readonly now: () => number;
}

interface Kept<Value> {
  readonly value: Value;
  readonly untilMs: number;
}

/** The error in words. Modules of teams might put a token into a message. */
function wordsOf(error: unknown, token: string | undefined, timeoutMs: number): string {
  if (error instanceof Error && error.name === "TimeoutError")
    return `It did not answer within ${String(timeoutMs / 1000)} s.`;
  if (error instanceof ProviderFailure) return error.message;
  const message = messageOf(error).slice(0, maxMessage);
  return token === undefined || token === "" ? message : message.replaceAll(token, "•••");
}

function retryAfterOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("retryAfterMs" in error)) return undefined;
  return typeof error.retryAfterMs === "number" ? Math.min(error.retryAfterMs, maxPauseMs) : undefined;
}

/** Several items of a vault may have one title, and thus one path. */
const keyOf = ({ id, path, vault }: ItemReference) => JSON.stringify([vault?.id, id, path]);

const lengthOf = (value: unknown) => JSON.stringify(value).length;

/** Bounds the texts of a provider: a module of a team may not. */
function bounded(item: ProviderItem): ProviderItem {
  const cut = (text: string) => text.slice(0, maxText);
  return {
    id: cut(item.id),
    title: cut(item.title),
    path: cut(item.path),
    vault: { id: cut(item.vault.id), name: cut(item.vault.name) },
    urls: item.urls.slice(0, 20).map(cut),
  };
}

/**
 * A provider with a deadline for each call, a cache, and pauses that its store requires. Its methods reject with a
 * {@link ProviderFailure}, or with the reason of the caller's signal.
 */
export class AskedProvider {
  readonly #options: AskedProviderOptions;
  readonly #limit = pLimit(callsAtOnce);
  readonly #values = new LRUCache<string, Kept<ProviderValues>>({
    max: maxKeptValues,
    maxSize: maxKeptLength,
    sizeCalculation: ({ value }) => lengthOf(value),
  });
  #items: Kept<readonly ProviderItem[]> | undefined;
  #opened: ReturnType<AskedProviderOptions["open"]> | undefined;
  #pausedUntilMs = 0;

  constructor(options: AskedProviderOptions) {
    this.#options = options;
  }

  /** Asks the store in any case. */
  test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    return this.#ask((provider, until) => provider.test(until), signal);
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    const kept = this.#items;
    if (kept !== undefined && kept.untilMs > this.#options.now()) return kept.value;
    const found = await this.#ask((provider, until) => provider.items(until), signal);
    const value = found.slice(0, maxItems).map(bounded);
    this.#items = lengthOf(value) > maxKeptLength ? undefined : { value, untilMs: this.#until() };
    return value;
  }

  async itemFor(domain: string, signal: AbortSignal): Promise<ProviderItem | undefined> {
    const kept = this.#items;
    if (kept !== undefined && kept.untilMs > this.#options.now()) return itemForDomain(kept.value, domain);
    const found = await this.#ask(
      (provider, until) => provider.find?.(domain, until) ?? Promise.resolve(undefined),
      signal,
    );
    return itemForDomain(found?.map(bounded) ?? (await this.items(signal)), domain);
  }

  async read(item: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const key = keyOf(item);
    const kept = this.#values.get(key);
    if (kept !== undefined && kept.untilMs > this.#options.now()) return kept.value;
    this.#values.delete(key);
    const value = await this.#ask((provider, until) => provider.read(item, until), signal);
    // The code of this moment is useless later.
    if (value !== undefined && !(value.totp !== undefined && "code" in value.totp))
      this.#values.set(key, { value, untilMs: this.#until() });
    return value;
  }

  #until(): number {
    return this.#options.now() + this.#options.cacheMs;
  }

  async #ask<Result>(
    work: (provider: CredentialProvider, signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const pauseMs = this.#pausedUntilMs - this.#options.now();
    if (pauseMs > 0)
      throw new ProviderFailure(`The store requires a pause of ${String(Math.ceil(pauseMs / 1000))} s more.`, {
        retryAfterMs: pauseMs,
      });
    const until = anySignal([signal, AbortSignal.timeout(this.#options.timeoutMs)]);
    let token: string | undefined;
    try {
      return await this.#limit(async () => {
        until.throwIfAborted();
        this.#opened ??= this.#options.open();
        const opened = await this.#opened;
        token = opened.token;
        return await orAborted(work(opened.provider, until), until);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (token === undefined) this.#opened = undefined;
      const retryAfterMs = retryAfterOf(error);
      if (retryAfterMs !== undefined) this.#pausedUntilMs = this.#options.now() + retryAfterMs;
      throw new ProviderFailure(wordsOf(error, token, this.#options.timeoutMs), { retryAfterMs });
    }
  }
}

/** A module of a team may ignore the signal. */
async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => {
    reject(signal.reason as Error);
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
