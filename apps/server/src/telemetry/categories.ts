import { badInput } from "@shoal/router";
import { type BrowserTelemetry, type BrowserTelemetryRequest, telemetryCategories } from "@shoal/schemas";
import type * as z from "zod/mini";

/** Whether each category is captured; `monitor` cannot be chosen, it goes with those that watch the browser. */
export type CapturedCategories = Readonly<Record<Selectable, boolean>>;
type Selectable = keyof NonNullable<BrowserTelemetry["browser"]>;

const selectable = telemetryCategories.filter((category): category is Selectable => category !== "monitor");
/** What is captured when nothing says otherwise: what costs the browser nothing. */
const byDefault: ReadonlySet<string> = new Set(["control", "connection", "system", "captcha"]);

function from(isOn: (category: Selectable) => boolean): CapturedCategories {
  const flags = Object.fromEntries(selectable.map((category) => [category, isOn(category)]));
  // `selectable` holds every one of them.
  return flags as Record<Selectable, boolean>;
}

type Request = z.output<typeof BrowserTelemetryRequest> | null | undefined;

/**
 * What a session captures after a request.
 *
 * @param current - what it captured before; `undefined` = nothing.
 * @returns `undefined` when nothing is captured.
 * @throws {ServiceError} 400 for `enabled: false` together with categories or a destination.
 */
export function selectCategories(request: Request, current: CapturedCategories | undefined): CapturedCategories | undefined {
  const given = Object.entries(request?.browser ?? {}).filter(([, choice]) => choice !== undefined);
  const isSent = request?.export?.otlp?.destination !== undefined;
  // Whoever has telemetry sent somewhere, and says no more, wants what costs nothing to be there.
  if (!request || (request.enabled === undefined && given.length === 0))
    return current ?? (isSent ? from((category) => byDefault.has(category)) : undefined);
  if (request.enabled === false) {
    if (isSent) {
      throw badInput("body.telemetry: enabled: false goes without export.otlp.destination. Nothing is captured then, so there is nothing to send.");
    }
    if (given.length === 0) return undefined;
    throw badInput(
      "body.telemetry: enabled: false goes without browser. Switch single categories off by their own enabled, or leave browser away to stop all.",
    );
  }
  const start = request.enabled === true ? undefined : current;
  const choices = new Map(given.map(([name, choice]) => [name, choice?.enabled !== false]));
  const selected = from((category) => choices.get(category) ?? start?.[category] ?? byDefault.has(category));
  // Only what was switched off: nothing asks for the default set beside it.
  const asks = request.enabled === true || start !== undefined || [...choices.values()].some(Boolean);
  return asks && Object.values(selected).some(Boolean) ? selected : undefined;
}

/** The names of those that are on. */
export function namesOf(categories: CapturedCategories | undefined): Selectable[] {
  return categories === undefined ? [] : selectable.filter((category) => categories[category]);
}

/** The other way round; `undefined` where none is on. Names that this version does not know are left out. */
export function categoriesNamed(names: readonly string[]): CapturedCategories | undefined {
  const selected = from((category) => names.includes(category));
  return Object.values(selected).some(Boolean) ? selected : undefined;
}

/** As answers show it. */
export function shownCategories(categories: CapturedCategories): BrowserTelemetry {
  return { browser: Object.fromEntries(selectable.map((category) => [category, { enabled: categories[category] }])) };
}

/** As answers show where it is sent. */
export function shownExport(destinationId: string): Pick<BrowserTelemetry, "export"> {
  return { export: { otlp: { destination: destinationId, enabled: true } } };
}
