import { useCanOperate } from "../../api/shoal.ts";

export const sessionTabs = [
  "live",
  "console",
  "network",
  "events",
  "files",
  "terminal",
  "processes",
  "logs",
  "recordings",
  "details",
] as const;
export type SessionTab = (typeof sessionTabs)[number];

/** Tabs with pictures and facts. The others show files, output and traffic, which can contain secrets. */
const viewerTabs: ReadonlySet<SessionTab> = new Set(["live", "recordings", "details"]);

/** The tabs that the signed-in person may open. */
export function useShownTabs(): readonly SessionTab[] {
  const canOperate = useCanOperate();
  return sessionTabs.filter((tab) => canOperate || viewerTabs.has(tab));
}
