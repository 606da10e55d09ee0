import type { SharedHeader } from "./openapi.ts";

/** Request headers of all operations with authentication. */
export const sharedHeaders: Readonly<Record<string, SharedHeader>> = {
  Project: {
    name: "X-Shoal-Project",
    description:
      "Id or name of the project that the request is about. Default: the key's project, or the default project for an organisation-wide key. 404 `project_not_found` if it does not exist or is archived; 403 for a project that the key does not open.",
    schema: { type: "string" },
  },
};
