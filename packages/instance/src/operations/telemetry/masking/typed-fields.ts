import * as z from "zod/mini";
import { secretFieldHelpers } from "../../../secrets/secret-field.ts";

export const fieldBinding = "shoalTelemetryField";
const maxCharacters = 1_000;
/** Without the domain Runtime, the binding follows the document; see `TargetDomains.rebind`. */
const retryMs = 20;
const maxRetries = 500;

/** Runs in an isolated world of each frame. Reports the text of fields for secrets, also when they show it. */
export const fieldScript = `(() => {
  if (globalThis.shoalTelemetryFieldsRun) return;
  globalThis.shoalTelemetryFieldsRun = true;
  ${secretFieldHelpers}
  const reported = new WeakMap();
  const waiting = [];
  let retries = 0;
  const report = () => {
    if (globalThis.${fieldBinding}) for (const typed of waiting.splice(0)) ${fieldBinding}(JSON.stringify(typed));
    else if (++retries < ${String(maxRetries)}) setTimeout(report, ${String(retryMs)});
  };
  const look = (event) => {
    const element = event.composedPath()[0];
    if (!event.isTrusted || !(element instanceof HTMLInputElement)) return;
    if (!isSecret(element) || event.type === "focusin") return;
    const value = element.value.slice(0, ${String(maxCharacters)});
    const before = reported.get(element) ?? "";
    if (value === before) return;
    reported.set(element, value);
    waiting.push({ value, before });
    report();
  };
  for (const type of ["focusin", "input", "change"]) addEventListener(type, look, { capture: true, passive: true });
})()`;

interface Recorder {
  /** Hides a value in later events. */
  hide(value: string, before: string): void;
}

const Typed = z.object({
  value: z.string().check(z.maxLength(maxCharacters)),
  before: z.string().check(z.maxLength(maxCharacters)),
});

/** Hides a reported value in later events. */
export function hideTyped(recorder: Recorder, payload: string): void {
  let report: unknown;
  try {
    report = JSON.parse(payload);
  } catch {
    return;
  }
  const typed = z.safeParse(Typed, report);
  if (typed.success) recorder.hide(typed.data.value, typed.data.before);
}
