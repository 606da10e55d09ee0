import * as C from "@chakra-ui/react";
import { done, show } from "./show.jsx";

const colours = C.createListCollection({ items: ["Red", "Green"].map((value) => ({ value, label: value })) });

show(
  {
    select: () => (
      <C.Select.Root collection={colours} onValueChange={(e) => done(e.value[0])} width="200px">
        <C.Select.HiddenSelect />
        <C.Select.Label>Colour</C.Select.Label>
        <C.Select.Control>
          <C.Select.Trigger>
            <C.Select.ValueText placeholder="Choose" />
          </C.Select.Trigger>
        </C.Select.Control>
        <C.Portal>
          <C.Select.Positioner>
            <C.Select.Content>
              {colours.items.map((i) => (
                <C.Select.Item item={i} key={i.value}>
                  {i.label}
                </C.Select.Item>
              ))}
            </C.Select.Content>
          </C.Select.Positioner>
        </C.Portal>
      </C.Select.Root>
    ),
    checkbox: () => (
      <C.Checkbox.Root onCheckedChange={(e) => done(e.checked)}>
        <C.Checkbox.HiddenInput />
        <C.Checkbox.Control />
        <C.Checkbox.Label>Terms</C.Checkbox.Label>
      </C.Checkbox.Root>
    ),
    switch: () => (
      <C.Switch.Root onCheckedChange={(e) => done(e.checked)}>
        <C.Switch.HiddenInput />
        <C.Switch.Control />
        <C.Switch.Label>Wifi</C.Switch.Label>
      </C.Switch.Root>
    ),
    "radio card": () => (
      <C.RadioCard.Root onValueChange={(e) => done(e.value)}>
        <C.RadioCard.Label>Plan</C.RadioCard.Label>
        {["Free", "Paid"].map((p) => (
          <C.RadioCard.Item key={p} value={p}>
            <C.RadioCard.ItemHiddenInput />
            <C.RadioCard.ItemControl>
              <C.RadioCard.ItemText>{p}</C.RadioCard.ItemText>
            </C.RadioCard.ItemControl>
          </C.RadioCard.Item>
        ))}
      </C.RadioCard.Root>
    ),
    slider: () => (
      <C.Slider.Root width="200px" defaultValue={[30]} onValueChange={(e) => done(e.value[0])}>
        <C.Slider.Label>Volume</C.Slider.Label>
        <C.Slider.Control>
          <C.Slider.Track>
            <C.Slider.Range />
          </C.Slider.Track>
          <C.Slider.Thumbs />
        </C.Slider.Control>
      </C.Slider.Root>
    ),
    editable: () => (
      <C.Editable.Root defaultValue="Boat" onValueCommit={(e) => done(e.value)}>
        <C.Editable.Preview />
        <C.Editable.Input />
      </C.Editable.Root>
    ),
  },
  ({ children }) => <C.ChakraProvider value={C.defaultSystem}>{children}</C.ChakraProvider>,
);
