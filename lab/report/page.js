(function(){
var each=function(list,f){Array.prototype.forEach.call(list,f)};
var reveal=function(e){for(var d=e.closest("details");d;d=d.parentElement.closest("details"))d.open=true};
var jump=function(){var e=location.hash&&document.getElementById(location.hash.slice(1));if(e){reveal(e);e.scrollIntoView()}};
if(innerWidth<640)document.querySelector("nav details").open=false;
addEventListener("hashchange",jump);jump();
addEventListener("beforeprint",function(){each(document.querySelectorAll("details"),reveal)});
each(document.querySelectorAll("button.all"),function(b){b.hidden=false;b.onclick=function(){
var to=b.getAttribute("aria-pressed")!="true";
each(b.closest("section").querySelectorAll("details"),function(d){d.open=to});
b.setAttribute("aria-pressed",to);b.textContent=to?"Fold all groups":"Open all groups"}});
})();
