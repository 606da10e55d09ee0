/** A step with the reference of its element. */
export interface Move {
  readonly verb: string;
  readonly ref: string;
  /** Of `drag`. */
  readonly to: string;
  /** Of `fill`. */
  readonly text: string;
  /** Of `press`. */
  readonly keys: readonly string[];
}

/** A tool that operates pages for models. Each call returns the text that a model reads. */
export interface Player extends AsyncDisposable {
  readonly name: string;
  open(url: string): Promise<string>;
  observe(): Promise<string>;
  act(move: Move): Promise<string>;
  /** For the check, not for the model. */
  title(): Promise<string>;
  /** The lines of the texts since the page was opened, in which references can be looked up. */
  readable(texts: readonly string[]): string;
}
