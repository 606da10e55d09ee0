// One line per file with handlers. Each takes the store. `node tools/lists.mjs` adds missing lines.
export * from "./areas/api-keys.ts";
export * from "./areas/browsers.ts";
export * from "./areas/credential-providers.ts";
export * from "./areas/credentials.ts";
export * from "./areas/files.ts";
export * from "./handoffs/handoff-handlers.ts";
export * from "./areas/profiles.ts";
export * from "./areas/projects.ts";
export * from "./areas/service.ts";
export * from "./areas/deployments.ts";
export * from "./areas/invocations.ts";
export * from "./areas/auth-connections.ts";
export * from "./areas/schedules.ts";
export * from "./areas/webhooks.ts";
export * from "./areas/rendered-pages.ts";
export * from "./logins/login-handlers.ts";
export * from "./usage/usage-handlers.ts";
