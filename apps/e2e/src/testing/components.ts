import { examineHost, type PlacementKind } from "@shoal/placement";
import { existsSync } from "node:fs";
import { chromedriver } from "./chromedriver.ts";

const host = await examineHost();

/** Why tests of a placement cannot run here. In CI (`SHOAL_REQUIRE_ALL=1`) they run anyway and fail. */
export function missingFor(placement: PlacementKind): string | undefined {
  if (process.env.SHOAL_REQUIRE_ALL === "1") return undefined;
  if (!host.chromium) return "no Chromium: apt install chromium-headless-shell";
  if (placement === "sandbox" && host.placement !== "sandbox") return "no sandbox: apt install bubblewrap";
  return undefined;
}

const kinds: readonly PlacementKind[] = ["sandbox", "process"];

/** The kinds of this run: the first kind that works here, the others, or all (see CONTRIBUTING.md). */
function chosenKinds(): readonly PlacementKind[] {
  const { SHOAL_TEST_VARIANTS: variants = "first" } = process.env;
  if (variants === "all") return kinds;
  const first = kinds.find((kind) => missingFor(kind) === undefined) ?? "process";
  return kinds.filter((kind) => (kind === first) === (variants === "first"));
}

/** The placements of this run, each with the reason to skip it. */
export const placements = chosenKinds().map((placement) => {
  const missing = missingFor(placement);
  return {
    placement,
    skip: missing !== undefined,
    title: missing === undefined ? placement : `${placement} (skipped, ${missing})`,
  };
});

export const fullChromiumPlacements = placements.map(({ placement, skip, title }) => {
  const isMissing =
    process.env.SHOAL_REQUIRE_ALL !== "1" &&
    host.findings.some(({ name, advice }) => name === "windows" && advice?.includes(" chromium") === true);
  return isMissing
    ? { placement, skip: true, title: `${placement} (skipped, no full Chromium: apt install chromium)` }
    : { placement, skip, title };
});

const windows =
  process.env.SHOAL_REQUIRE_ALL === "1" ? undefined : host.findings.find(({ name }) => name === "windows");

export const windowPlacements = placements.map(({ placement, skip, title }) =>
  windows === undefined || windows.state === "ok"
    ? { placement, skip, title }
    : { placement, skip: true, title: `${placement} (skipped, no windows: ${windows.advice ?? ""})` },
);

/** The missing component for sessions with a window, if any. */
export const missingForWindows =
  windows === undefined || windows.state === "ok" ? undefined : (windows.advice ?? windows.detail);

/** Why recordings of whole screens cannot be tested, if so. */
export const missingForScreenRecordings = windows?.advice;

export const authorityPlacements = fullChromiumPlacements.map(({ placement, skip, title }) => {
  const isMissing =
    process.env.SHOAL_REQUIRE_ALL !== "1" &&
    host.findings.some(({ name, advice }) => name === "authorities" && advice !== undefined);
  return isMissing
    ? { placement, skip: true, title: `${placement} (skipped, no certutil: apt install libnss3-tools)` }
    : { placement, skip, title };
});

/** Whether tests with chromedriver are skipped, and the suffix of their titles. */
export const chromedriverTests =
  process.env.SHOAL_REQUIRE_ALL === "1" || existsSync(chromedriver)
    ? { skip: false, reason: "" }
    : { skip: true, reason: " (skipped, no chromedriver: apt install chromium-driver)" };
