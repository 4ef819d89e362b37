"use strict"
{
	const up = document.currentScript.dataset.up
	const q = document.getElementById("q"), found = document.getElementById("found"), said = document.getElementById("said")
	const menu = document.getElementById("menu"), nav = document.getElementById("nav")

	// What the open menu covers on a narrow screen cannot have the focus.
	const main = document.getElementById("main")
	const open = on => { nav.classList.toggle("open", on); menu.setAttribute("aria-expanded", on); main.inert = on }
	menu.onclick = () => open(!nav.classList.contains("open"))
	matchMedia("(max-width:760px)").onchange = () => open(false)
	document.getElementById("theme").onclick = () => {
		const root = document.documentElement
		const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches
		root.dataset.theme = dark ? "light" : "dark"
		try { localStorage.theme = root.dataset.theme } catch {}
	}

	for (const pre of document.querySelectorAll("pre")) {
		const button = document.createElement("button")
		button.textContent = "Copy"
		button.onclick = async () => {
			await navigator.clipboard.writeText(pre.querySelector("code").textContent)
			button.textContent = "Copied"
			said.textContent = "Copied"
			setTimeout(() => button.textContent = "Copy", 1500)
		}
		pre.append(button)
	}

	let index
	const load = () => index ??= fetch(up + "search.json").then(r => r.json())
	q.onfocus = load

	// A page is found if it has all words. Words in the title count most, then those in headings, then how often they occur.
	const rank = (page, words) => {
		let points = 0, heading = ""
		const text = page.x.toLowerCase(), title = page.t.toLowerCase()
		for (const word of words) {
			const times = text.split(word).length - 1
			const inHeading = page.h.find(h => h.toLowerCase().includes(word))
			if (!times && !inHeading && !title.includes(word)) return null
			points += Math.min(times, 10) + (inHeading ? 20 : 0) + (title.includes(word) ? 50 : 0)
			heading ||= inHeading || ""
		}
		return { page, points, heading }
	}

	// excerpt is the words around the first hit, with the hit marked. It is made of text nodes, never of HTML.
	const excerpt = (text, word) => {
		const small = document.createElement("small"), at = text.toLowerCase().indexOf(word)
		if (at < 0) { small.textContent = text.slice(0, 120); return small }
		const mark = document.createElement("mark")
		mark.textContent = text.slice(at, at + word.length)
		small.append("…" + text.slice(Math.max(0, at - 50), at), mark, text.slice(at + word.length, at + 90) + "…")
		return small
	}

	q.oninput = async () => {
		const words = q.value.toLowerCase().split(/\s+/).filter(Boolean)
		const hits = words.length ? (await load()).map(p => rank(p, words)).filter(Boolean).sort((a, b) => b.points - a.points).slice(0, 12) : []
		found.replaceChildren(...hits.map(({ page, heading }) => {
			const item = document.createElement("li"), a = document.createElement("a")
			const [id, ...title] = heading.split(" ")
			a.href = up + page.u + (id ? "#" + id : "")
			a.append(page.t + (title.length ? " › " + title.join(" ") : ""), excerpt(page.x, words[0]))
			item.append(a)
			return item
		}))
		if (words.length && !hits.length) {
			const item = document.createElement("li")
			item.textContent = "Nothing found"
			found.append(item)
		}
		found.hidden = !words.length
		said.textContent = words.length ? hits.length + " found" : ""
	}
	document.querySelector(".search").addEventListener("keydown", e => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key]
		if (!step || found.hidden) return
		const stops = [q, ...found.querySelectorAll("a")]
		stops[stops.indexOf(document.activeElement) + step]?.focus()
		e.preventDefault()
	})
	// The focus does not stay in what is closed.
	document.addEventListener("keydown", e => {
		if (e.key === "/" && document.activeElement !== q && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); q.focus() }
		if (e.key !== "Escape") return
		if (found.contains(document.activeElement)) q.focus()
		if (nav.contains(document.activeElement) && nav.classList.contains("open")) menu.focus()
		found.hidden = true
		open(false)
	})
	document.addEventListener("click", e => { if (!e.target.closest(".search")) found.hidden = true })
}
