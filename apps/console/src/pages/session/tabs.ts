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
