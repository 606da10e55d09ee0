import { expectNoProblems, forgetServices } from "./checked-answers.ts";
import { endServices } from "./service.ts";
import { removeNodeCopy } from "./writer.ts";

export const afterTest = expectNoProblems;

export async function afterFile(): Promise<void> {
  removeNodeCopy();
  await endServices();
  forgetServices();
}
