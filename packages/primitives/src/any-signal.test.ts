import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { anySignal } from "./any-signal.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** A signal whose source only it refers to. */
function signalOf(abort: boolean): { readonly signal: AbortSignal; readonly source: WeakRef<AbortSignal> } {
  const controller = new AbortController();
  const signal = anySignal([new AbortController().signal, controller.signal]);
  if (abort) controller.abort(new Error("stop"));
  return { signal, source: new WeakRef(controller.signal) };
}

it("keeps its sources, and their reason, when nothing else refers to them", async () => {
  const [waiting, aborted] = [signalOf(false), signalOf(true)];
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn();
    collect();
  }
  expect(waiting.source.deref()).toBeDefined();
  expect(waiting.signal.aborted).toBe(false);
  expect(aborted.signal.reason).toMatchObject({ message: "stop" });
});

it("lets its sources go with it", async () => {
  const { source } = signalOf(false);
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn();
    collect();
  }
  expect(source.deref()).toBeUndefined();
});
