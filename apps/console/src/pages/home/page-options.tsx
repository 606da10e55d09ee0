import { Checkbox, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import { isRequestable, type Wanted } from "./wanted.ts";

export interface PageOptionsProps {
  readonly wanted: Wanted;
  readonly setWanted: (wanted: Wanted) => void;
}

const wide = { flex: "1 1 180px" };

/** What pages find in the browser. */
export function PageOptions({ wanted, setWanted }: PageOptionsProps) {
  const text = (field: "locale" | "position" | "timezone") => ({
    value: wanted[field],
    style: wide,
    onChange(event: { readonly currentTarget: HTMLInputElement }) {
      setWanted({ ...wanted, [field]: event.currentTarget.value });
    },
  });
  return (
    <Stack gap="sm" mt="sm">
      <Group align="flex-start" gap="sm">
        <TextInput label="Time zone" placeholder="Europe/Zurich" maxLength={64} {...text("timezone")} />
        <TextInput label="Language" placeholder="de-CH" maxLength={35} {...text("locale")} />
        <TextInput
          label="Position"
          placeholder="47.37, 8.54"
          error={isRequestable(wanted) ? undefined : "Latitude and longitude in degrees: 47.37, 8.54"}
          {...text("position")}
        />
      </Group>
      <Group align="flex-end" gap="sm">
        <NativeSelect
          label="Color scheme"
          style={wide}
          value={wanted.color_scheme}
          data={[
            { value: "", label: "Default" },
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
          onChange={({ currentTarget: { value } }) => {
            setWanted({ ...wanted, color_scheme: value === "dark" || value === "light" ? value : "" });
          }}
        />
        <Checkbox
          label="Reduced motion"
          checked={wanted.reduced_motion}
          style={wide}
          onChange={(event) => {
            setWanted({ ...wanted, reduced_motion: event.currentTarget.checked });
          }}
        />
      </Group>
    </Stack>
  );
}
