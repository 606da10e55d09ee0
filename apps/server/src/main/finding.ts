/** One line of `shoal doctor`. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "warning" | "missing";
  readonly detail: string;
  readonly advice?: string | undefined;
}
