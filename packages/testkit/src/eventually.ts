import { setTimeout as delay } from "node:timers/promises";
import { waitLimitMs } from "./limits.ts";

const intervalMs = 20;

type Present<T> = Exclude<T, undefined | null | false>;
type Condition<T> = () => T | Promise<T>;

/**
 * Waits until `condition` returns a value other than `undefined`, `null` and `false`, and returns this value.
 * An error of the condition counts as "not yet". `expect.poll` waits for a value that a matcher describes, with the same deadline.
 * @param what - the condition in words, for the message of the error; otherwise its source text.
 * @throws {Error} after {@link waitLimitMs}, with the last value or error.
 */
export function eventually<T>(what: string, condition: Condition<T>): Promise<Present<T>>;
export function eventually<T>(condition: Condition<T>): Promise<Present<T>>;
export function eventually<T>(first: string | Condition<T>, second?: Condition<T>): Promise<Present<T>> {
  const condition = typeof first === "string" ? second : first;
  if (condition === undefined) throw new TypeError("eventually() needs a condition after its description.");
  return poll(String(first), condition, isPresent);
}

/**
 * Waits until `assertions` no longer throw, and returns their result.
 * @throws {Error} after {@link waitLimitMs}, with the last error of the assertions as its cause.
 */
export function eventuallyPasses<T>(assertions: Condition<T>): Promise<T> {
  return poll(String(assertions), assertions, (_value): _value is T => true);
}

async function poll<T, Result extends T>(
  what: string,
  condition: Condition<T>,
  isDone: (value: T) => value is Result,
): Promise<Result> {
  const endMs = performance.now() + waitLimitMs;
  for (;;) {
    let outcome: { readonly value: T } | { readonly error: unknown };
    try {
      const value = await condition();
      if (isDone(value)) return value;
      outcome = { value };
    } catch (error) {
      outcome = { error };
    }
    if (performance.now() > endMs) throw timeoutError(what, outcome);
    await delay(intervalMs);
  }
}

function isPresent<T>(value: T): value is Present<T> {
  return value !== undefined && value !== null && value !== false;
}

function timeoutError(what: string, outcome: { readonly value: unknown } | { readonly error: unknown }): Error {
  const last =
    "error" in outcome ? `Its last error: ${String(outcome.error)}` : `Its last value: ${String(outcome.value)}`;
  return new Error(
    `Not within ${waitLimitMs} ms: ${what}. ${last}`,
    "error" in outcome ? { cause: outcome.error } : {},
  );
}
