import { ServiceError } from "@shoal/router";
import type { OpenDialog } from "../../browser/input/screen.ts";

const answers: ReadonlyMap<string, boolean> = new Map([
  ["return", true],
  ["enter", true],
  ["kp_enter", true],
  ["escape", false],
  ["esc", false],
]);

/** Error 409: only the dialog receives input. @param done - progress until the dialog opened. */
export function dialogIsOpen({ type }: OpenDialog, done = ""): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    `${done} A dialog (${type}) is open and blocks input to the page.`.trimStart(),
    {
      hint: `Press Return with press_key to accept it or Escape to dismiss it${type === "prompt" ? "; type text to fill it in" : ""}. A CDP client can also answer it.`,
    },
  );
}

/** Answers a dialog by a key. @throws {ServiceError} 409 for a key that has no effect on it. */
export async function answerDialogByKeys(
  dialog: OpenDialog,
  chord: string,
  promptText: string | undefined,
): Promise<void> {
  const accept = answers.get(chord.toLowerCase());
  if (accept === undefined) throw dialogIsOpen(dialog);
  await dialog.answer(accept, accept ? promptText : undefined);
}
