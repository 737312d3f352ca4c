import { useState } from "preact/hooks";
import { Icon } from "../../ui/icons.tsx";

interface LocationFormProps {
  readonly reason: string;
  onSubmit(location: { place: string }): void;
}

/** The user's location as free text: the page does not ask the browser for it. */
export function LocationForm({ reason, onSubmit }: LocationFormProps) {
  const [place, setPlace] = useState("");
  return (
    <form
      class="ask-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (place.trim() !== "") onSubmit({ place: place.trim() });
      }}
    >
      <label>
        {reason}
        <input
          type="text"
          placeholder="Bern, Switzerland"
          value={place}
          onInput={({ currentTarget }) => setPlace(currentTarget.value)}
        />
      </label>
      <div class="ask-row">
        <button type="submit" class="primary" disabled={place.trim() === ""}>
          <Icon name="pin" /> Send location
        </button>
      </div>
    </form>
  );
}
