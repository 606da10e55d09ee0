import { expect, it, onTestFinished, vi } from "vitest";
import { AutomationPause } from "../../pause/automation-pause.ts";
import type { GuardVerdict } from "./guard.ts";
import { createPausingGuard, maxHeldBytes } from "./pausing-guard.ts";

const handoff = { id: "h1", remaining_ms: 60_000 } as const;

async function pausedGuard(on_automation: "wait" | "refuse") {
  const pause = new AutomationPause(() => () => undefined);
  const guard = createPausingGuard(() => "pass", pause);
  await pause.begin({ ...handoff, on_automation });
  const ask = (message: string | object): GuardVerdict =>
    guard(Buffer.from(typeof message === "string" ? message : JSON.stringify(message)));
  return { ask, pause };
}
const refused = { answer: expect.stringContaining("handoff_active") as unknown };

it("passes everything unchanged without a handoff", () => {
  const pause = new AutomationPause(() => () => undefined);
  expect(createPausingGuard(() => "pass", pause)(Buffer.from('{"id":1,"method":"Runtime.evaluate"}'))).toBe("pass");
});

it("passes reading commands, and refuses all others and unknown ones", async () => {
  const { ask, pause } = await pausedGuard("refuse");
  for (const method of ["DOM.getDocument", "Accessibility.getFullAXTree", "Runtime.runIfWaitingForDebugger"])
    expect(ask({ id: 1, method })).toEqual({ replace: JSON.stringify({ id: 1, method }) });
  for (const method of [
    "Input.dispatchKeyEvent",
    "Runtime.evaluate",
    "Runtime.callFunctionOn",
    "Page.navigate",
    "Page.handleJavaScriptDialog",
    "Target.createTarget",
    "Target.sendMessageToTarget",
    "New.method",
    "constructor",
    "",
  ])
    expect(ask({ id: 1, method })).toEqual(refused);
  pause.end("h1");
});

it("reads hostile messages as it passes them on", async () => {
  const { ask, pause } = await pausedGuard("refuse");
  // The last of two equal names counts.
  expect(ask('{"id":1,"method":"DOM.getDocument","method":"Page.navigate"}')).toEqual(refused);
  expect(ask('{"id":1,"method":"Page.navigate","method":"DOM.getDocument"}')).toEqual({
    replace: '{"id":1,"method":"DOM.getDocument"}',
  });
  expect(ask('{"id":1,"method":"Page.navig\\u0061te"}')).toEqual(refused);
  for (const invalid of ['{"id":1,/**/"method":"Page.navigate"}', "[]", "null", '{"id":1'])
    expect(ask(invalid)).toEqual({ answer: expect.stringContaining("Invalid JSON") as unknown });
  pause.end("h1");
});

it("continues intercepted requests without their changes", async () => {
  const { ask, pause } = await pausedGuard("wait");
  const params = { requestId: "r1", url: "https://other.example/", body: "changed" };
  for (const method of ["Fetch.continueRequest", "Fetch.fulfillRequest", "Fetch.failRequest"])
    expect(ask({ id: 1, method, params })).toEqual({
      replace: JSON.stringify({ id: 1, method: "Fetch.continueRequest", params: { requestId: "r1" } }),
    });
  pause.end("h1");
});

it("holds commands in order until the end, within its limits", async () => {
  const { ask, pause } = await pausedGuard("wait");
  const passed: number[] = [];
  for (const id of [1, 2, 3]) {
    const verdict = ask({ id, method: "Page.navigate" });
    if (typeof verdict === "string" || !("later" in verdict)) throw new Error("The command was not held.");
    void verdict.later.then(() => passed.push(id));
  }
  expect(ask({ id: 4, method: "Page.navigate", params: { url: "x".repeat(maxHeldBytes) } })).toEqual(refused);
  for (let id = 5; id < 1_005; id++) ask({ id, method: "Page.reload" });
  expect(ask({ id: 2_000, method: "Page.reload" })).toEqual(refused);
  expect(passed).toEqual([]);
  pause.end("another");
  expect(pause.isActive).toBe(true);
  pause.end("h1");
  await expect.poll(() => passed).toEqual([1, 2, 3]);
});

it("ends at its deadline without the service, and counts as use of the session", async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const uses: string[] = [];
  const pause = new AutomationPause(() => {
    uses.push("began");
    return () => uses.push("ended");
  });
  await pause.begin({ id: "h1", on_automation: "wait", remaining_ms: 20 });
  expect(uses).toEqual(["began"]);
  const admitted = pause.admit();
  vi.advanceTimersByTime(20);
  expect(await admitted).toBeUndefined();
  expect(uses).toEqual(["began", "ended"]);
});
