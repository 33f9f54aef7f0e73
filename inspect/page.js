"use strict";
// The server draws the page. Each second this asks for it again, and puts what has changed in
// the place of what was there, so that what is open, and how far it is scrolled, stays.
const state = document.getElementById("status"), pause = document.getElementById("pause");
let paused = false;

async function refresh() {
	const reply = await fetch(location.href, {cache: "no-store"});
	if (!reply.ok) throw new Error(reply.status + " " + reply.statusText);
	const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
	if (fresh.title !== document.title) return location.reload(); // it has other pools now
	for (const old of document.querySelectorAll(".live")) {
		const now = fresh.getElementById(old.id);
		if (!old.isEqualNode(now)) old.replaceWith(now);
	}
}

async function turn() {
	if (!paused && !document.hidden) {
		try {
			await refresh();
			state.textContent = "live";
		} catch (e) {
			state.textContent = "no answer: " + e.message;
		}
	}
	setTimeout(turn, 1000);
}

pause.onclick = () => {
	paused = !paused;
	pause.textContent = paused ? "Resume" : "Pause";
	state.textContent = paused ? "paused" : "live";
};
pause.hidden = false;
state.textContent = "live";
setTimeout(turn, 1000);
