/** A field of the form. */
export interface ShownField {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly sensitive: boolean;
  readonly label: string | undefined;
  readonly has_value: boolean;
  /** Of a field that is not sensitive. */
  readonly value: string | undefined;
}

/** What the service tells the page. */
export interface ShownForm {
  readonly title: string | undefined;
  readonly fields: readonly ShownField[];
}
