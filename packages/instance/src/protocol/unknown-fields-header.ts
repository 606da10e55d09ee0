/** With `refuse`, the instance rejects unknown body fields and query parameters of a forwarded request. */
export const unknownFieldsHeader = "x-shoal-unknown-fields";
