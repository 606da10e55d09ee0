import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { log } from "../../system/log.ts";
import { prepareTargets } from "./prepare-targets.ts";

/** Adds a constant to the time that scripts of pages, frames and workers read. Timers and their pace stay. */
export async function shiftClock(cdp: CdpConnection, offsetMs: number): Promise<void> {
  const source = clockScript(offsetMs);
  const prepare = (sessionId: string, type: string) =>
    type === "page" || type === "iframe"
      ? [
          cdp.send("Page.enable", undefined, sessionId),
          cdp.send("Page.addScriptToEvaluateOnNewDocument", { source, runImmediately: true }, sessionId),
        ]
      : [cdp.send("Runtime.evaluate", { expression: source }, sessionId)];
  await prepareTargets(cdp, prepare, (type, error) => {
    log("warn", "the clock of a page or worker could not be set", { type, error });
  });
}

/** Times that scripts give to the browser, or leave to it: cookies and files. A part of {@link clockScript}. */
const givenTimes = `
  // Browsers read the end of a cookie as UTC, and compare it with the real time.
  const cookie = globalThis.Document && Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
  const realEnd = (whole, name, end) => {
    if (!/[a-z]{3}/i.test(end) || !/\\d:\\d\\d/.test(end)) return whole;
    const real = RealDate.parse(end.trim().replace(/\\s(?:[a-z]{1,5})?(?:[+-]\\d{2}:?\\d{2})?$/i, "") + " GMT") - offset;
    return real <= 253402300799000 ? name + new RealDate(real).toUTCString() : whole;
  };
  if (cookie?.set)
    Object.defineProperty(Document.prototype, "cookie", {
      ...cookie,
      set(value) { cookie.set.call(this, String(value).replace(/(;\\s*expires=)([^;]*)/i, realEnd)); },
    });
  const store = globalThis.CookieStore?.prototype;
  const realSet = store?.set;
  const endingReal = (options) => (options?.expires == null ? options : { ...options, expires: Number(options.expires) - offset });
  if (realSet) define(store, "set", { set(...values) { return realSet.apply(this, values.map(endingReal)); } }.set);

  const RealFile = globalThis.File;
  if (RealFile) {
    const changedNow = ([parts, name, options]) => [parts, name, { ...options, lastModified: options?.lastModified ?? now() }];
    const ClockFile = new Proxy(RealFile, {
      construct: (target, values, newTarget) =>
        Reflect.construct(target, values.length < 2 ? values : changedNow(values), newTarget === ClockFile ? target : newTarget),
    });
    define(RealFile.prototype, "constructor", ClockFile);
    define(globalThis, "File", ClockFile);
  }
`;

/** Every way in which a script reads the time of day. `performance.now` and `event.timeStamp` count from `timeOrigin`. */
function clockScript(offsetMs: number): string {
  return `(() => {
  const offset = ${String(offsetMs)};
  // Once in a realm: a page of several clients may run it again.
  const mark = Symbol.for("shoal.clock");
  if (Date[mark]) return;
  const RealDate = Date;
  const realNow = RealDate.now;
  const now = () => realNow() + offset;
  const define = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, configurable: true });
  define(RealDate, mark, true);
  define(RealDate, "now", { now() { return now(); } }.now);
  const Clock = new Proxy(RealDate, {
    apply: () => new RealDate(now()).toString(),
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget === Clock ? target : newTarget),
  });
  define(RealDate.prototype, "constructor", Clock);
  define(globalThis, "Date", Clock);

  const shiftGetter = (prototype, name, shift) => {
    const found = prototype && Object.getOwnPropertyDescriptor(prototype, name);
    if (found?.get) Object.defineProperty(prototype, name, { ...found, get() { return shift(found.get.call(this)); } });
  };
  shiftGetter(globalThis.Performance?.prototype, "timeOrigin", (origin) => origin + offset);
  const timing = globalThis.PerformanceTiming?.prototype;
  for (const name of timing ? Object.getOwnPropertyNames(timing) : [])
    shiftGetter(timing, name, (at) => (typeof at === "number" && at !== 0 ? at + offset : at));
  for (const [prototype, change] of [
    [globalThis.Performance?.prototype, (shown) => ({ ...shown, timeOrigin: shown.timeOrigin + offset })],
    [timing, (shown) => Object.fromEntries(Object.entries(shown).map(([name, at]) => [name, at === 0 ? at : at + offset]))],
  ]) {
    const real = prototype?.toJSON;
    if (real) define(prototype, "toJSON", { toJSON() { return change(real.call(this)); } }.toJSON);
  }

${givenTimes}
  const format = Intl.DateTimeFormat.prototype;
  const { get: realFormat } = Object.getOwnPropertyDescriptor(format, "format");
  const bound = new WeakMap();
  Object.defineProperty(format, "format", {
    configurable: true,
    get() {
      if (!bound.has(this)) {
        const real = realFormat.call(this);
        bound.set(this, (date) => real(date === undefined ? now() : date));
      }
      return bound.get(this);
    },
  });
  const realParts = format.formatToParts;
  define(format, "formatToParts", { formatToParts(date) { return realParts.call(this, date === undefined ? now() : date); } }.formatToParts);

  const temporal = globalThis.Temporal?.Now;
  if (!temporal) return;
  const { Instant } = Temporal;
  const zoneId = temporal.timeZoneId.bind(temporal);
  const zoned = (zone = zoneId()) => Instant.fromEpochMilliseconds(now()).toZonedDateTimeISO(zone);
  const methods = {
    instant() { return Instant.fromEpochMilliseconds(now()); },
    zonedDateTimeISO(zone) { return zoned(zone); },
    plainDateTimeISO(zone) { return zoned(zone).toPlainDateTime(); },
    plainDateISO(zone) { return zoned(zone).toPlainDate(); },
    plainTimeISO(zone) { return zoned(zone).toPlainTime(); },
  };
  for (const [name, method] of Object.entries(methods)) define(temporal, name, method);
})();`;
}
