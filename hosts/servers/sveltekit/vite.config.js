import adapter from "@sveltejs/adapter-node";
import { sveltekit } from "@sveltejs/kit/vite";

// Forms of other pages are refused by the handler itself; clients that are no browsers send no origin.
export default { plugins: [sveltekit({ adapter: adapter(), csrf: { trustedOrigins: ["*"] } })] };
