import { ServiceError } from "@shoal/router";
import type { OpenDialog } from "./screen.ts";

/** The keys that press a dialog's buttons. */
const answers: ReadonlyMap<string, boolean> = new Map([
  ["return", true],
  ["enter", true],
  ["kp_enter", true],
  ["escape", false],
  ["esc", false],
]);

/** 409: input reaches nothing but the dialog. @param done - what was done until it opened. */
export function dialogIsOpen({ type }: OpenDialog, done = ""): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    `${done} A dialog (${type}) is open, and the page takes no input until it is answered: press_key Return accepts it, Escape dismisses it${type === "prompt" ? ", type fills it in" : ""}. A CDP client can answer it too.`.trimStart(),
  );
}

/** Answers a dialog as its keys do. @throws {ServiceError} 409 for a key that does nothing to it. */
export async function answerDialogByKeys(dialog: OpenDialog, chord: string, promptText: string | undefined): Promise<void> {
  const accept = answers.get(chord.toLowerCase());
  if (accept === undefined) throw dialogIsOpen(dialog);
  await dialog.answer(accept, accept ? promptText : undefined);
}
