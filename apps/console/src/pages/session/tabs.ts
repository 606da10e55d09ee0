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
/** Tabs with pictures and facts. The others show files, output and traffic, which can contain secrets. */
export const viewerTabs: ReadonlySet<SessionTab> = new Set(["live", "recordings", "details"]);

export type SessionTab = (typeof sessionTabs)[number];
