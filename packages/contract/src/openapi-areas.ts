import type { SharedHeader } from "./openapi.ts";

/** What the areas are about, in the order in which readers of the document meet them. Apart from the operations, for it would be in every bundle. */
export const areaDescriptions: Readonly<Record<string, string>> = {
  Browsers: "Browser sessions: start, find, change and end them, and send requests through their network.",
  "Browser Computer Controls": "Mouse, keyboard, clipboard and screenshots of a session's screen, as a person at the machine would have them.",
  "Browser Playwright": "Playwright code that runs beside the browser.",
  "Browser Processes": "Programs that run beside the browser: start, follow, feed and end them.",
  "Browser Filesystem": "The files of a session: read, write, move, upload, download, and watch directories.",
  "Browser Replays": "Videos of what a session's screen showed.",
  "Browser Logs": "What the programs of a session wrote to their logs.",
  "Browser Telemetry": "What happened in a session, as events: network, console, pages, interactions.",
  Profiles: "Saved browser state (cookies, storage, preferences) that sessions start from and write back to.",
  Proxies: "Ways out to the network that sessions can be given.",
  Extensions: "Chrome extensions that are stored once and loaded into sessions.",
  "Browser Pools": "Browsers that are kept warm, to be leased and given back.",
  Credentials: "Login data that managed auth fills in; secrets go in and never come out.",
  "Credential Providers": "Password managers from which login data is read.",
  "Managed Auth": "Logins that the service keeps alive: connections of a profile to a site, and the flow of a login.",
  Apps: "Programs with actions that run on the platform.",
  Deployments: "Versions of apps, from upload to running.",
  Invocations: "Single runs of an app's action.",
  Projects: "Projects, the walls between what keys can see, and their limits.",
  "API Keys": "Keys that open the service.",
  Organization: "What the organization may do, and who is calling.",
  "Telemetry Destinations": "Places outside to which telemetry is sent.",
  "Audit Logs": "Who called what, to look up and to carry away.",
  Service: "Whether the service is well, and this document.",
};

/** Headers that every operation with a key takes. */
export const sharedHeaders: Readonly<Record<string, SharedHeader>> = {
  Project: {
    name: "X-Shoal-Project",
    description:
      "Id or name of the project that the request is about. Without it a key of one project means its own, and a key of the organisation the default project. One that does not exist or is archived is a 404 `project_not_found`, another than the key's own a 403.",
    schema: { type: "string" },
  },
};
