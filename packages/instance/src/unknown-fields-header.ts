/** Header of a forwarded request: `refuse` makes the instance refuse body fields and query parameters that the contract does not know. */
export const unknownFieldsHeader = "x-shoal-unknown-fields";
