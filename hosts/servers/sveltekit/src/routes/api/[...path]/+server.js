import { createApp } from "../../../../app.edge.mjs";

const app = createApp("/api");
const handle = ({ request }) => app.fetch(request);

export { handle as GET, handle as POST, handle as PATCH, handle as DELETE };
