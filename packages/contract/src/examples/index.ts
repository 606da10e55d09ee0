import type { Examples } from "./example.ts";
import { insideExamples } from "./inside.ts";
import { organizationExamples } from "./organization.ts";
import { sessionExamples } from "./sessions.ts";
import { workExamples } from "./work.ts";

/** An example of every JSON request and response, by schema name. Part of openapi.json, but not of client bundles. */
export const examples: Examples = { ...sessionExamples, ...insideExamples, ...organizationExamples, ...workExamples };
