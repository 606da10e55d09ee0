export const sessionTabs = ["live", "details"] as const;
export type SessionTab = (typeof sessionTabs)[number];
