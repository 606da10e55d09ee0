/** A refusal of a tool itself, with the fields of an error of the service. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
