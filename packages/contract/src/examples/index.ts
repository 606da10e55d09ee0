import type { Examples } from "./example.ts";
import { insideExamples } from "./inside.ts";
import { organizationExamples } from "./organization.ts";
import { sessionExamples } from "./sessions.ts";
import { workExamples } from "./work.ts";

/** An example of every JSON body and answer, by the name of its schema. Part of openapi.json and of nothing that clients import. */
export const examples: Examples = { ...sessionExamples, ...insideExamples, ...organizationExamples, ...workExamples };
